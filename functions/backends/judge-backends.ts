/**
 * A judge as the deployment runs it: the judge, and how to ask after its health. configured.ts says which ones there are.
 * A kind of model backend is added by writing its folder, its schema in settings.ts and its case in model-judge.ts.
 */

import { createRouter, type RouterClock } from '../../lib/model-servers/calls/router.ts';
import { createVllmBackend } from '../../lib/model-servers/vllm/vllm-chat.ts';
import { type Probe, probeServer } from '../../lib/model-servers/vllm/vllm-server.ts';
import type { ChatBackend } from '../../src/judgments/chat-backend.ts';
import type { Judge } from '../../src/judgments/judge.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import { createModelJudge } from '../../src/judgments/model-judge.ts';
import type { JudgeFailureReason } from '../../src/judgments/types.ts';
import { type BindingOf, isAiBinding, transportOf } from './bindings.ts';
import { probeSandbox, type SandboxClock, type SandboxConfig } from './sandbox/sandbox-client.ts';
import { createSandboxJudge } from './sandbox/sandbox-judge.ts';
import type { BackendConfig, JudgeConfig } from './settings-schema.ts';
import { createWorkersAiBackend } from './workers-ai/workers-ai-chat.ts';

/** How a way to a model is, as far as can be told without a paid call. */
export type RouteHealth = {
  readonly name: string;
  /** It answers, as what it should be, and lets us in. */
  readonly reachable: boolean;
  /** Whether the configured model is served; `null` = nobody could say. */
  readonly model_present: boolean | null;
  /** Reason of the last failure that this isolate saw; holds no caller text. */
  readonly last_error: string | null;
};

export type BackendHealth = Omit<RouteHealth, 'name'> & {
  /** The backends behind the judge, in the order they are tried; empty where the judge is its own. */
  readonly routes: readonly RouteHealth[];
};

export type JudgeBackend = {
  readonly judge: Judge;
  /** `caller`: pure CPU, judged in the isolate of the request. `desk`: a paid call that the JudgeDesk runs and counts. */
  readonly runs_in: 'caller' | 'desk';
  /** Calls that the backend takes at once, over the whole deployment; the desks share them. */
  readonly slots: number;
  /** Asks after the backend; never rejects. */
  readonly health: () => Promise<BackendHealth>;
};

export const lexicalBackend: JudgeBackend = {
  runs_in: 'caller',
  slots: Number.POSITIVE_INFINITY,
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

/** The judge of a configuration. */
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
    // In the worst case one route carries everything.
    slots: Math.min(...routes.map(({ slots }) => slots)),
    health: () => healthOf(routes),
  };
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
      if (!isAiBinding(ai)) throw new Error('modelJudge: the settings were read without the binding AI');
      return createRoute(createWorkersAiBackend(config, ai), config.slots, async () => BOUND);
    }
  }
}

/** Only a paid call would say more. */
const BOUND: Probe = { reachable: true, model_present: null, failure: null };

/** A judge is reachable if one of its routes is; what is wrong is told of each. */
async function healthOf(routes: readonly Route[]): Promise<BackendHealth> {
  const checked = await Promise.all(
    routes.map(async ({ chat, probe, lastFailure }): Promise<RouteHealth> => {
      const { reachable, model_present, failure } = await probe();
      return { name: chat.name, reachable, model_present, last_error: failure?.reason ?? lastFailure() };
    }),
  );
  const usable = checked.find(({ reachable, model_present }) => reachable && model_present !== false);
  const told = usable ?? checked.find(({ reachable }) => reachable) ?? checked[0];
  if (told === undefined) throw new Error('healthOf: a judge without routes');
  const { reachable, model_present, last_error } = told;
  return { reachable, model_present, last_error, routes: checked };
}

type Route = {
  readonly chat: ChatBackend;
  /** Calls that the backend takes at once. */
  readonly slots: number;
  /** Asks after the backend; never rejects. */
  readonly probe: () => Promise<Probe>;
  /** Reason of the last call that failed in this isolate. */
  readonly lastFailure: () => JudgeFailureReason | null;
};

/** The route of a backend; its calls are watched for failures. */
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

const SANDBOX_CLOCK: SandboxClock = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
};

/** The backend of a configuration. */
export function sandboxBackend(
  config: SandboxConfig,
  bindingOf: BindingOf,
  clock: SandboxClock = SANDBOX_CLOCK,
): JudgeBackend {
  const transport = transportOf(config.vpc_binding, bindingOf);
  const judge = createSandboxJudge(config, transport, clock);
  let last: string | null = null;
  return {
    judge: {
      ...judge,
      async judge(request, options) {
        const reply = await judge.judge(request, options);
        // What a comparison leaves open is no fault of the sandbox.
        if (!reply.ok && reply.failure.reason !== 'equivalence_undecided') last = reply.failure.reason;
        return reply;
      },
    },
    runs_in: 'desk',
    slots: config.slots,
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
