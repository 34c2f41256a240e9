/** Which judges and generators this deployment has, and which one a request gets. */
import type { JudgeChoice } from '../../src/judgments/judge.ts';
import type { Environment, Settings } from '../environment.ts';
import type { Backend } from './backend.ts';
import { createGenerators, type Generators } from './generators.ts';
import { lexicalBackend } from './lexical.ts';
import { modelJudge } from './model-judge.ts';
import { sandboxBackend } from './sandbox/backend.ts';

export { chooseGenerator } from './generators.ts';

export type Backends = {
  /** Every judge that a request can name. */
  readonly named: readonly Backend[];
  /** The judge of requests that name none; `null` = they get `judge_unconfigured`. */
  readonly default: Backend | null;
  /** Where programs run and expressions are compared; `null` = what needs it gets `sandbox_unconfigured`. */
  readonly sandbox: Backend | null;
  /** What writes answers (generators.ts). */
  readonly generators: Generators;
};

type Known = { readonly settings: Settings; readonly backends: Backends };

/** Per environment, which is one an isolate: routers and routes remember what failed last. */
const known = new WeakMap<Environment, Known>();

/** The backends of a deployment. A configured default wins over the lexical judge. */
export function configuredBackends(settings: Settings, environment: Environment): Backends {
  const last = known.get(environment);
  if (last?.settings === settings) return last.backends;
  const backends = createBackends(settings, environment);
  known.set(environment, { settings, backends });
  return backends;
}

function createBackends(settings: Settings, environment: Environment): Backends {
  const { backends: config, allowLexicalJudge } = settings;
  const bindingOf = (name: string): unknown => Reflect.get(environment, name);
  const judges = config.judges.map((judge) => modelJudge(judge, bindingOf));
  const byDefault = judges.find(({ judge }) => judge.name === config.default_judge);
  return {
    named: [...judges, lexicalBackend],
    default: byDefault ?? (allowLexicalJudge ? lexicalBackend : null),
    sandbox: config.sandbox === null ? null : sandboxBackend(config.sandbox, bindingOf),
    generators: createGenerators(settings, bindingOf),
  };
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

/** The sandbox of this deployment. */
export function chooseSandbox({ sandbox }: Backends): JudgeChoice {
  if (sandbox !== null) return { ok: true, judge: sandbox.judge };
  return {
    ok: false,
    failure: {
      reason: 'sandbox_unconfigured',
      detail: 'No sandbox is configured ("sandbox" in BACKENDS): programs cannot be run, nor expressions compared.',
      retryable: false,
    },
  };
}
