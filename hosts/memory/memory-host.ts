/**
 * A host of the service in one process, without a Worker: it answers request bodies as a Worker answers them, with the
 * judges, generators and sandbox of its settings. Judgments are kept in its store. What only a Worker does (runs, receipts,
 * the judge's reasons) fails with `needs_worker`, before any judge call.
 */
import { memoryStore } from '../../lib/memory-store.ts';
import { type Answering, answer, type RouteReplies } from '../../service/answer.ts';
import { configuredCodeRunner } from '../../service/backends/code-runner.ts';
import { configuredBackends } from '../../service/backends/configured.ts';
import type { BackendsConfig } from '../../service/backends/settings-schema.ts';
import { LONGEST_CALL_MS } from '../../service/desk/call-limits.ts';
import type { RequestFailure } from '../../service/failures.ts';
import { makeGroupRubrics } from '../../service/make-rubrics.ts';
import type { AgentPlatform } from '../../service/ports.ts';
import { createSourceReader, RECENT_SOURCES } from '../../src/citations/recent-sources.ts';
import { createKnownIssuers } from '../../src/judgments/issuer.ts';
import type { JudgmentStore } from '../../src/judgments/store.ts';
import type { Result } from '../../src/result.ts';
import type { BatchEndpoint } from '../../src/wire/batches/batch.ts';
import { MemoryDesk } from './memory-desk.ts';

/** No model and no sandbox: the lexical judge and the extractive refiner are the defaults. */
export const NO_MODELS: BackendsConfig = {
  sandbox: null,
  judges: [],
  classifiers: [],
  cascades: [],
  default_judge: null,
  generators: [],
  default_generator: null,
};

/** Size of the default store; a judgment takes about 2 KB. */
const MAX_CACHED_JUDGMENTS = 10_000;

export type MemoryHostOptions = {
  /** Default: the lexical judge and the extractive refiner. */
  readonly backends?: BackendsConfig;
  /** Default: the last 10,000 judgments in memory. */
  readonly store?: JudgmentStore;
  /** Called when a judge call has its slot; the returned function is called at its end. */
  readonly onCall?: () => () => void;
};

export type MemoryHost = {
  readonly ports: AgentPlatform;
  /** Answers a body with the body's own `on_judge_failure`. */
  readonly answer: <R extends BatchEndpoint>(
    route: R,
    body: unknown,
    how?: Pick<Answering, 'verifying' | 'generation'>,
  ) => Promise<Result<RouteReplies[R], RequestFailure>>;
  /** Questions that went to a judge with a model, and judgments that the store had. */
  readonly figures: () => { readonly calls: number; readonly stored: number };
};

/** @param options.store one of `citeward/node` keeps judgments between processes. */
export function createMemoryHost({
  backends: config = NO_MODELS,
  store = memoryStore({ maxRecords: MAX_CACHED_JUDGMENTS }),
  onCall,
}: MemoryHostOptions = {}): MemoryHost {
  const settings = { backends: config, allowLexicalJudge: true, allowExtractiveRefiner: true };
  // The environment of a Worker has bindings; this process has none.
  const backends = configuredBackends(settings, {});
  const { named, sandbox } = backends;
  const inDesk = [...named, ...(sandbox === null ? [] : [sandbox])].filter(({ runs_in }) => runs_in === 'desk');
  const desk = new MemoryDesk(inDesk, store, onCall);
  let stored = 0;
  const ports: AgentPlatform = {
    readSources: createSourceReader(RECENT_SOURCES),
    backends,
    judgments: {
      ...store,
      async get(keys) {
        const found = await store.get(keys);
        stored += found.size;
        return found;
      },
    },
    desk,
    class: 'live',
    // Nothing sends a request of this process again, so it waits as long as a judge may take.
    judgeWait: { each_ms: LONGEST_CALL_MS, all_ms: LONGEST_CALL_MS, most_ms: LONGEST_CALL_MS },
    signing: { issuer: null, known: createKnownIssuers([]) },
    makeRubrics: (wanted) => makeGroupRubrics(wanted, ports),
    records: null,
    runCode: configuredCodeRunner(config.sandbox, () => undefined),
  };
  return {
    ports,
    async answer(route, body, how = {}) {
      const { result } = await answer(route, body, () => ports, {
        readSources: ports.readSources,
        ...how,
        lastTry: true,
      });
      return result;
    },
    figures: () => ({ calls: desk.calls, stored }),
  };
}
