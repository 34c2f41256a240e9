/** Which judges this deployment has, and which one a request gets. */
import type { JudgeChoice } from '../../src/judgments/judge.ts';
import type { Settings } from '../environment.ts';
import type { Backend } from './backend.ts';
import { lexicalBackend } from './lexical.ts';

export type Backends = {
  /** Every judge that a request can name. */
  readonly named: readonly Backend[];
  /** The judge of requests that name none; `null` = they get `judge_unconfigured`. */
  readonly default: Backend | null;
};

/** The backends of a deployment. Model backends come before the lexical one in `named` and win as the default. */
export function configuredBackends(settings: Settings): Backends {
  return { named: [lexicalBackend], default: settings.allowLexicalJudge ? lexicalBackend : null };
}

/** The judge of a request. `null` = it names one that is not configured. */
export function chooseJudge(backends: Backends, name: string | undefined): JudgeChoice | null {
  if (name !== undefined) {
    const found = backends.named.find(({ judge }) => judge.name === name);
    return found === undefined ? null : { ok: true, judge: found.judge };
  }
  if (backends.default !== null) return { ok: true, judge: backends.default.judge };
  return {
    ok: false,
    failure: {
      reason: 'judge_unconfigured',
      detail: 'No judge is configured as the default: name one in "judge", or configure one.',
      retryable: false,
    },
  };
}
