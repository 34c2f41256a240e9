/**
 * The cases that every host answers alike: a request, and the status and body of its reply. They are data, one file for a
 * route; each host has a test that sends them. `without_worker` is the reply of a host that is no Worker, where it differs.
 */
import type { BatchEndpoint } from '../../src/wire/batches/batch.ts';
import compare from './compare.json' with { type: 'json' };
import groups from './groups.json' with { type: 'json' };
import refine from './refine.json' with { type: 'json' };
import rubrics from './rubrics.json' with { type: 'json' };
import score from './score.json' with { type: 'json' };
import verify from './verify.json' with { type: 'json' };

export type Reply = { readonly status: number; readonly reply: unknown };

export type Case = Reply & {
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly without_worker?: Reply;
};

export const CASES: ReadonlyMap<BatchEndpoint, readonly Case[]> = new Map<BatchEndpoint, readonly Case[]>([
  ['/v1/score', score.cases],
  ['/v1/groups', groups.cases],
  ['/v1/compare', compare.cases],
  ['/v1/verify', verify.cases],
  ['/v1/refine', refine.cases],
  ['/v1/rubrics', rubrics.cases],
]);

/** Every case with its route, for `it.each`. */
export const ALL_CASES = [...CASES].flatMap(([route, cases]) => cases.map((one) => ({ route, ...one })));

/** What no two calls have in common: times, durations, the ids of requests, and whether a judgment was stored before. */
const VARYING: ReadonlySet<string> = new Set(['judged_at', 'latency_ms', 'request_id', 'cached']);

/** A reply without what varies from call to call. */
export function steady(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
      VARYING.has(name) ? [] : [[name, steady(member)]],
    ),
  );
}

/** The path of a case's request. */
export function pathOf({ route, query = {} }: { readonly route: BatchEndpoint } & Pick<Case, 'query'>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? route : `${route}?${text}`;
}
