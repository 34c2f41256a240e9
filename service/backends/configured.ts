/**
 * Creates the judges, the sandbox and the generators of a deployment from its settings, and chooses one for a request.
 */

import type { GeneratorChoice } from '../../src/generation/generator.ts';
import type { JudgeChoice } from '../../src/judgments/judge.ts';
import { createGenerators, type GeneratorSettings, type Generators } from './generator-backends.ts';
import {
  cascadeBackend,
  classifierBackend,
  type JudgeBackend,
  lexicalBackend,
  modelJudge,
  sandboxBackend,
} from './judge-backends.ts';

export type Backends = {
  /** The judges that a request can name. */
  readonly named: readonly JudgeBackend[];
  /** The judge of requests that name none; `null` = such requests fail with `judge_unconfigured`. */
  readonly default: JudgeBackend | null;
  /** Runs programs and compares expressions; `null` = requests that need it fail with `sandbox_unconfigured`. */
  readonly sandbox: JudgeBackend | null;
  readonly generators: Generators;
};

/** The settings of the Worker that concern its backends. */
type BackendSettings = GeneratorSettings & { readonly allowLexicalJudge: boolean };

type Known = { readonly settings: BackendSettings; readonly backends: Backends };

/**
 * The backends of each environment object (one per isolate). They are cached, because their routers and routes remember
 * recent failures.
 */
const known = new WeakMap<object, Known>();

/** Returns the backends of a deployment. A configured default judge takes precedence over the lexical judge. */
export function configuredBackends(settings: BackendSettings, environment: object): Backends {
  const last = known.get(environment);
  if (last?.settings === settings) return last.backends;
  const backends = createBackends(settings, environment);
  known.set(environment, { settings, backends });
  return backends;
}

function createBackends(settings: BackendSettings, environment: object): Backends {
  const { backends: config, allowLexicalJudge } = settings;
  const bindingOf = (name: string): unknown => Reflect.get(environment, name);
  const single = [
    ...config.judges.map((judge) => modelJudge(judge, bindingOf)),
    ...config.classifiers.map((classifier) => classifierBackend(classifier, bindingOf)),
  ];
  const judges = [...single, ...config.cascades.map((cascade) => cascadeBackend(cascade, single))];
  const byDefault = judges.find(({ judge }) => judge.name === config.default_judge);
  return {
    named: [...judges, lexicalBackend],
    default: byDefault ?? (allowLexicalJudge ? lexicalBackend : null),
    sandbox: config.sandbox === null ? null : sandboxBackend(config.sandbox, bindingOf),
    generators: createGenerators(settings, bindingOf),
  };
}

/** Returns the judge of a request, or `null` if the request names an unknown one. */
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

/** Returns the sandbox of the deployment, or the failure that there is none. */
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

/** Returns the generator of a request, or `null` if the request names an unknown one. */
export function chooseGenerator(
  { generators }: { readonly generators: Generators },
  name: string | undefined,
): GeneratorChoice | null {
  if (name !== undefined) {
    const found = generators.named.find(({ generator }) => generator.name === name);
    return found === undefined ? null : { ok: true, value: found.generator };
  }
  if (generators.default !== null) return { ok: true, value: generators.default.generator };
  return {
    ok: false,
    error: {
      reason: 'generator_unconfigured',
      detail: 'No generator is configured as the default: name one in "generator", or configure one.',
      retryable: false,
    },
  };
}
