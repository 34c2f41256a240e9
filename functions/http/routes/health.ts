/**
 * `GET /healthz`: the Worker runs (public). `GET /readyz`: which stores, judges, generators and sandbox are reachable
 * (any key).
 */

import type { Backends } from '../../../service/backends/configured.ts';
import type { Generators } from '../../../service/backends/generator-backends.ts';
import type { JudgeBackend } from '../../../service/backends/judge-backends.ts';
import type { Readiness } from '../../../src/wire/health.ts';
import type { Environment, Settings } from '../../environment.ts';
import { activeShardLoads } from '../../ledger/ledger-size.ts';
import { configuredWarnings, measuredWarnings } from '../../shard-warnings.ts';
import { storeStates } from '../../store-health.ts';
import type { Handlers } from '../handlers.ts';

export const healthHandlers = {
  'GET /healthz': (c) => c.json({ status: 'ok' }),
  'GET /readyz': async (c) => {
    const readiness = await readinessOf(
      c.get('platforms').backendsOf(c.get('settings'), c.env),
      c.env,
      c.get('settings'),
    );
    return c.json(readiness, readiness.status === 'ready' ? 200 : 503);
  },
} satisfies Partial<Handlers>;

async function readinessOf(backends: Backends, environment: Environment, settings: Settings): Promise<Readiness> {
  // Concurrently, because each waits for its own servers.
  const [stores, shards, judges, generators, sandbox] = await Promise.all([
    storeStates(environment),
    activeShardLoads(environment.DB, environment.RUN_LEDGER, Date.now()),
    judgeStates(backends.named),
    generatorStates(backends.generators),
    sandboxState(backends.sandbox),
  ]);
  const defaultName = backends.default?.judge.name ?? null;
  const reason = stores.every(({ reachable }) => reachable)
    ? judgeProblem(judges.find(({ name }) => name === defaultName))
    : 'store_unreachable';
  return {
    status: reason === null ? 'ready' : 'not_ready',
    reason,
    stores,
    warnings: [...configuredWarnings(settings), ...measuredWarnings(shards ?? [])],
    default_judge: defaultName,
    judges,
    default_generator: backends.generators.default?.generator.name ?? null,
    generators,
    sandbox,
  };
}

function judgeStates(named: readonly JudgeBackend[]): Promise<Readiness['judges']> {
  return Promise.all(
    named.map(async ({ judge, health }) => {
      const { routes, ...state } = await health();
      return { name: judge.name, model: judge.model, ...state, routes: [...routes] };
    }),
  );
}

/** Generators produce no rewards, so they do not affect readiness. */
function generatorStates({ named }: Generators): Promise<Readiness['generators']> {
  return Promise.all(
    named.map(async ({ generator: { name, model, native_tools }, health }) => ({
      name,
      model,
      native_tools,
      ...(await health()),
    })),
  );
}

/** Only code execution needs the sandbox, so it does not affect readiness. */
async function sandboxState(sandbox: JudgeBackend | null): Promise<Readiness['sandbox']> {
  if (sandbox === null) return null;
  const { reachable, last_error } = await sandbox.health();
  return { name: sandbox.judge.name, runtime: sandbox.judge.model, reachable, last_error };
}

/** @param judge the default judge, if there is one. */
function judgeProblem(judge: Readiness['judges'][number] | undefined): Readiness['reason'] {
  if (judge === undefined) return 'judge_unconfigured';
  if (!judge.reachable) return 'judge_unreachable';
  return judge.model_present === false ? 'judge_model_missing' : null;
}
