/** Judges made of configured model backends: routes, router, the judging protocol, and health over all of it. */
import { createModelJudge } from '../../src/judgments/model-judge.ts';
import type { Backend, BackendHealth, RouteHealth } from './backend.ts';
import { isAiBinding } from './bindings.ts';
import type { BackendConfig, JudgeConfig } from './config.ts';
import { createRoute, type Probe, type Route } from './route.ts';
import { createRouter, type RouterClock } from './router.ts';
import { createVllmBackend } from './vllm/backend.ts';
import { probeServer } from './vllm/probe.ts';
import { type BindingOf, transportOf } from './vllm/transport.ts';
import { createWorkersAiBackend } from './workers-ai/backend.ts';

const CLOCK: RouterClock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
};

/** The judge of a configuration. */
export function modelJudge({ name, routes: configs }: JudgeConfig, bindingOf: BindingOf, clock = CLOCK): Backend {
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
