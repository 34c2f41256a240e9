/**
 * Counts the KV operations of one invocation. The platform allows 1,000; a read of up to 100 keys is one. Judgments over
 * the bound go to the desks, whose alarms put them into KV; reasons over it are not kept. A consumer hands on the lines
 * of a chunk, and an endpoint its jobs, before the operations run out.
 */
import type { Judgment } from '../src/judgments/judgment.ts';
import type { JudgmentStore, StoreReceipt } from '../src/judgments/store.ts';
import type { DeskClient } from './desk/desk-client.ts';

/** Operations of one invocation, a tenth below the platform's limit. */
const MAX_KV_OPERATIONS = 900;
/** Operations that writes leave to reads, and to what is under way when a consumer hands on its lines. */
const KEPT_FOR_READS = 300;

/** The methods of a KV namespace that are counted. */
export type CountedKv = {
  get(keys: string[], type: 'text'): Promise<Map<string, string | null>>;
  put(key: string, value: string, options?: { expirationTtl: number }): Promise<void>;
};

export class KvOperations {
  #left = MAX_KV_OPERATIONS;

  /** Whether a write may be made. */
  get takesWrite(): boolean {
    return this.#left > KEPT_FOR_READS;
  }

  /** Whether a further line or job may begin. */
  get takesWork(): boolean {
    return this.#left > KEPT_FOR_READS / 2;
  }

  /** The namespace, whose operations are counted here. */
  countedKv(kv: CountedKv): CountedKv {
    return {
      get: (keys, type) => {
        this.#left--;
        return kv.get(keys, type);
      },
      put: (key, value, options) => {
        this.#left--;
        return kv.put(key, value, options);
      },
    };
  }
}

/** The store of an invocation: what it may not put into KV itself, the desks store. */
export function withinOperations<Store extends JudgmentStore>(
  store: Store,
  operations: Pick<KvOperations, 'takesWrite'>,
  desk: Pick<DeskClient, 'import'>,
): Store {
  let waiting: Waiting[] = [];
  const flush = async (): Promise<void> => {
    const sent = waiting;
    waiting = [];
    try {
      const outcomes = await desk.import(sent.map(({ judgment }) => judgment));
      for (const [position, { judgment, resolve }] of sent.entries()) {
        const outcome = outcomes[position];
        if (outcome === undefined) throw new Error('withinOperations: fewer outcomes than judgments');
        if (typeof outcome === 'string') store.remember(judgment);
        resolve(typeof outcome === 'string' ? { ok: true } : { ok: false, failure: outcome.failure });
      }
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  };
  return {
    ...store,
    put(judgment) {
      if (operations.takesWrite) return store.put(judgment);
      const { promise, resolve, reject } = Promise.withResolvers<StoreReceipt>();
      // Judgments that end in one turn of the event loop travel together.
      if (waiting.length === 0) setTimeout(() => void flush(), 0);
      waiting.push({ judgment, resolve, reject });
      if (waiting.length === MAX_SENT_TOGETHER) void flush();
      return promise;
    },
  };
}

/** Judgments of one message to the desks, each of which may take two reads of KV there. */
const MAX_SENT_TOGETHER = 200;

type Waiting = {
  readonly judgment: Judgment;
  readonly resolve: (receipt: StoreReceipt) => void;
  readonly reject: (error: unknown) => void;
};
