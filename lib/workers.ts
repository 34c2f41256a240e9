/** The exports of the library that need Cloudflare Workers: `import { kvStore } from 'citeward/workers'`. */
import type { JudgmentStore } from '../src/judgments/store.ts';
import {
  createKvJudgmentStore,
  createRecentJudgments,
  type JudgmentKv,
  MAX_RECENT_JUDGMENT_CHARS,
  MAX_RECENT_JUDGMENTS,
} from './kv-store.ts';

export type { JudgmentKv } from './kv-store.ts';

/**
 * Keeps judgments in a KV namespace, behind a cache in this isolate (4,096 records or 8 MB). KV may report a miss for
 * up to 60 s after a write elsewhere, so a judgment may be made twice; both records answer the same question. The store
 * also finds what the desks of a Citeward Worker wrote into the namespace: it reads one value for each judgment and one
 * for each answer. Create it once per isolate, outside of the request handler.
 *
 * @example
 * ```ts
 * import { kvStore } from 'citeward/workers';
 *
 * declare const env: { readonly JUDGMENTS: Parameters<typeof kvStore>[0] };
 * export const createStore = () => kvStore(env.JUDGMENTS);
 * ```
 * @param namespace A KV namespace, or any object with its bulk `get` and its `put`.
 */
export function kvStore(namespace: JudgmentKv): JudgmentStore {
  const limits = { entries: MAX_RECENT_JUDGMENTS, chars: MAX_RECENT_JUDGMENT_CHARS };
  return createKvJudgmentStore(namespace, createRecentJudgments(limits));
}
