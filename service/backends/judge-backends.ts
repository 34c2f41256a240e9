/**
 * Creates the judges of a deployment with their health checks: the lexical judge, judges on model backends,
 * classifiers, and the sandbox. A new kind of model backend needs a folder, a schema in settings-schema.ts and a case in `routeOf`.
 */

import { createRouter, type RouterClock } from '../../lib/model-servers/calls/router.ts';
import { createVllmBackend } from '../../lib/model-servers/vllm/vllm-chat.ts';
import { type Probe, probeServer } from '../../lib/model-servers/vllm/vllm-server.ts';
import { createCascade, lexicalTier } from '../../src/judgments/cascade.ts';
import type { ChatBackend } from '../../src/judgments/chat-backend.ts';
import { createClassifierJudge } from '../../src/judgments/classifier/classifier-judge.ts';
import type { Judge } from '../../src/judgments/judge.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import { createModelJudge } from '../../src/judgments/model-judge.ts';
import type { JudgeFailureReason } from '../../src/judgments/protocol/failure.ts';
import { DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S } from '../desk/call-limits.ts';
import { type BindingOf, isAiBinding, transportOf } from './bindings.ts';
import { type ClassifierConfig, createClassifierServer, probeClassifier } from './classifier/classifier-server.ts';
import { probeSandbox, type SandboxClock, type SandboxConfig } from './sandbox/sandbox-client.ts';
import { createSandboxJudge } from './sandbox/sandbox-judge.ts';
import type { BackendConfig, CascadeConfig, JudgeConfig } from './settings-schema.ts';
import { createWorkersAiBackend } from './workers-ai/workers-ai-chat.ts';

/** The health of one route to a model, as far as it can be checked without a paid call. */
export type RouteHealth = {
  readonly name: string;
  /** The backend answers with the expected API and accepts the credentials. */
  readonly reachable: boolean;
  /** Whether the backend serves the configured model; `null` = unknown. */
  readonly model_present: boolean | null;
  /** Reason of the last failure in this isolate; holds no text of a caller. */
  readonly last_error: string | null;
};

type BackendHealth = Omit<RouteHealth, 'name'> & {
  /** The backends of the judge in the order of preference; empty if it has none. */
  readonly routes: readonly RouteHealth[];
};

export type JudgeBackend = {
  readonly judge: Judge;
  /**
   * Where the judge runs: `caller` = in the isolate of the request, as pure CPU work. `desk` = in a JudgeDesk object,
   * which makes and counts the paid calls.
   */
  readonly runs_in: 'caller' | 'desk';
  /** Maximum number of concurrent calls in the whole deployment. The JudgeDesk objects divide it among themselves. */
  readonly slots: number;
  /** How long a call may take once it has its slot, in milliseconds; its waits for connections do not count. */
  readonly timeout_ms: number;
  /** Checks the backend without a paid call. Never rejects. */
  readonly health: () => Promise<BackendHealth>;
};

/** The built-in lexical judge. It compares words, not meaning, costs nothing and is always reachable. */
export const lexicalBackend: JudgeBackend = {
  runs_in: 'caller',
  slots: Number.POSITIVE_INFINITY,
  timeout_ms: Number.POSITIVE_INFINITY,
  judge: LEXICAL_JUDGE,
  async health() {
    return { reachable: true, model_present: true, last_error: null, routes: [] };
  },
};

const ROUTER_CLOCK: RouterClock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
};

/** Creates a judge on model backends from its configuration. */
export function modelJudge(
  { name, routes: configs }: JudgeConfig,
  bindingOf: BindingOf,
  clock = ROUTER_CLOCK,
): JudgeBackend {
  const routes = configs.map((config) => routeOf(config, bindingOf));
  const router = createRouter({ name, routes: routes.map(({ chat }) => chat), clock });
  return {
    judge: createModelJudge(router, clock.now),
    runs_in: 'desk',
    // One route carries all calls if the other routes fail, so the route with the fewest slots sets the limit.
    slots: Math.min(...routes.map(({ slots }) => slots)),
    timeout_ms: timeoutOf(configs),
    health: () => healthOf(routes),
  };
}

/**
 * The time of a judge's call: `timeout_s` of its backend. With several routes it is twice the longest `timeout_s`: the
 * router gives half of the time to a route while another is left, so that each has its own `timeout_s`.
 */
function timeoutOf(configs: readonly BackendConfig[]): number {
  const longest_s = Math.max(...configs.map(({ timeout_s = DEFAULT_TIMEOUT_S }) => timeout_s));
  return Math.min(MAX_TIMEOUT_S, configs.length > 1 ? 2 * longest_s : longest_s) * 1000;
}

function routeOf(config: BackendConfig, bindingOf: BindingOf): Route {
  switch (config.kind) {
    case 'vllm': {
      const transport = transportOf(config.vpc_binding, bindingOf);
      const chat = createVllmBackend(config, transport, () => Date.now());
      return createRoute(chat, config.slots, () => probeServer(config, transport));
    }
    case 'workers-ai': {
      const ai = bindingOf('AI');
      if (!isAiBinding(ai)) throw new Error('modelJudge: the binding AI of the settings is missing');
      return createRoute(createWorkersAiBackend(config, ai), config.slots, async () => BOUND);
    }
  }
}

/** The health of a route on the AI binding. A further check of the binding would need a paid call. */
const BOUND: Probe = { reachable: true, model_present: null, failure: null };

/** A judge is reachable if one of its routes is. The reply lists the state of each route. */
async function healthOf(routes: readonly Route[]): Promise<BackendHealth> {
  const checked = await Promise.all(
    routes.map(async ({ chat, probe, lastFailure }): Promise<RouteHealth> => {
      const { reachable, model_present, failure } = await probe();
      return { name: chat.name, reachable, model_present, last_error: failure?.reason ?? lastFailure() };
    }),
  );
  const usable = checked.find(({ reachable, model_present }) => reachable && model_present !== false);
  const shown = usable ?? checked.find(({ reachable }) => reachable) ?? checked[0];
  if (shown === undefined) throw new Error('healthOf: the judge has no routes');
  const { reachable, model_present, last_error } = shown;
  return { reachable, model_present, last_error, routes: checked };
}

type Route = {
  readonly chat: ChatBackend;
  /** Maximum number of concurrent calls of this route. */
  readonly slots: number;
  /** Checks the backend of this route without a paid call. Never rejects. */
  readonly probe: () => Promise<Probe>;
  /** Reason of the last failed call in this isolate. */
  readonly lastFailure: () => JudgeFailureReason | null;
};

/** Creates the route of a backend, which remembers the last failure of its calls. */
function createRoute(chat: ChatBackend, slots: number, probe: () => Promise<Probe>): Route {
  let last: JudgeFailureReason | null = null;
  return {
    slots,
    probe,
    lastFailure: () => last,
    chat: {
      ...chat,
      async complete(request, options) {
        const outcome = await chat.complete(request, options);
        if (!outcome.ok) last = outcome.failure.reason;
        return outcome;
      },
    },
  };
}

/** Programs have limits of their own, which are shorter. */
const SANDBOX_TIMEOUT_MS = 60_000;

/** The clock of a client that reads `Retry-After`. */
export const SERVER_CLOCK: SandboxClock = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
};

/** Creates the judge on a classifier from its configuration. */
export function classifierBackend(config: ClassifierConfig, bindingOf: BindingOf): JudgeBackend {
  const transport = transportOf(config.vpc_binding, bindingOf);
  const judge = createClassifierJudge(createClassifierServer(config, transport, SERVER_CLOCK), config);
  let last: JudgeFailureReason | null = null;
  return {
    judge: {
      ...judge,
      async judge(request, options) {
        const reply = await judge.judge(request, options);
        if (!reply.ok) last = reply.failure.reason;
        return reply;
      },
    },
    runs_in: 'desk',
    slots: config.slots,
    timeout_ms: config.timeout_s * 1000,
    async health(): Promise<BackendHealth> {
      const { reachable, model_present, failure } = await probeClassifier(config, transport);
      const route = { name: config.name, reachable, model_present, last_error: failure?.reason ?? last };
      return { reachable, model_present, last_error: route.last_error, routes: [route] };
    },
  };
}

/** Creates a cascade. It asks its judges from the isolate of the request, so each call has the slots of its own judge. */
export function cascadeBackend({ name, tiers, last }: CascadeConfig, backends: readonly JudgeBackend[]): JudgeBackend {
  const named = (wanted: string): JudgeBackend => {
    const found = [...backends, lexicalBackend].find(({ judge }) => judge.name === wanted);
    if (found === undefined) throw new Error('cascadeBackend: a judge of the settings is missing');
    return found;
  };
  const isLexical = (judge: string): boolean => judge === LEXICAL_JUDGE.name;
  const made = tiers.map(({ judge, band }) =>
    isLexical(judge) ? lexicalTier(band) : { judge: named(judge).judge, band },
  );
  return {
    ...lexicalBackend,
    judge: createCascade(name, made, named(last).judge),
    async health() {
      const checked = await Promise.all([...tiers.map(({ judge }) => judge), last].map((one) => named(one).health()));
      return (
        checked.find(({ reachable, model_present }) => !reachable || model_present === false) ?? {
          ...(await lexicalBackend.health()),
          routes: checked.flatMap(({ routes }) => routes),
        }
      );
    },
  };
}

/** Creates the judge behind a sandbox from its configuration. */
export function sandboxBackend(
  config: SandboxConfig,
  bindingOf: BindingOf,
  clock: SandboxClock = SERVER_CLOCK,
): JudgeBackend {
  const transport = transportOf(config.vpc_binding, bindingOf);
  const judge = createSandboxJudge(config, transport, clock);
  let last: string | null = null;
  return {
    judge: {
      ...judge,
      async judge(request, options) {
        const reply = await judge.judge(request, options);
        // An undecided comparison is no fault of the sandbox.
        if (!reply.ok && reply.failure.reason !== 'equivalence_undecided') last = reply.failure.reason;
        return reply;
      },
    },
    runs_in: 'desk',
    slots: config.slots,
    timeout_ms: SANDBOX_TIMEOUT_MS,
    async health(): Promise<BackendHealth> {
      const failure = await probeSandbox(config, transport);
      return {
        reachable: failure === null,
        model_present: null,
        last_error: failure?.reason ?? last,
        routes: [],
      };
    },
  };
}
