/** The Worker that judgments are taken out of or brought into: its address, our key, and what its refusals mean. */

import * as z from 'zod';
import { RunError, UsageError } from '../../shared/exit.ts';
import { connect } from '../../shared/worker.ts';

export type JudgmentEndpoints = {
  readonly export: URL;
  readonly import: URL;
  readonly headers: Readonly<Record<string, string>>;
};

/** Finds the JudgmentEndpoints. @throws UsageError for a wrong URL, RunError if no JudgmentEndpoints answers there. */
export async function judgmentEndpoints(url: string | null, keyFlag: string | null): Promise<JudgmentEndpoints> {
  if (url === null) throw new UsageError('judgments are stored by a Worker: give its --url');
  await connect(url, keyFlag, () => undefined);
  const base = new URL(url.endsWith('/') ? url : `${url}/`);
  const key = keyFlag ?? process.env['CITEWARD_KEY'] ?? '';
  return {
    export: new URL('v1/judgments:export', base),
    import: new URL('v1/judgments:import', base),
    headers: key === '' ? {} : { authorization: `Bearer ${key}` },
  };
}

const problemSchema = z.looseObject({ reason: z.string(), detail: z.string() });

const HINTS: ReadonlyMap<string, string> = new Map([
  ['key_missing', 'Set CITEWARD_KEY, or give --key. citeward keys add makes one.'],
  ['key_unknown', 'Is it the key of this deployment? citeward keys add makes a new one.'],
  ['scope_missing', 'Export needs a key with the scope score, import one with the scope admin.'],
]);

/** What a reply that is no success means for the run: its end. @param body as parsed, `undefined` if it is not JSON. */
export function refusedByWorker(status: number, body: unknown): RunError {
  const problem = problemSchema.safeParse(body);
  if (!problem.success) return new RunError(`the JudgmentEndpoints gave an unexpected reply: ${status}`);
  const { reason, detail } = problem.data;
  return new RunError(`the JudgmentEndpoints refuses: ${status} ${reason}: ${detail}`, HINTS.get(reason) ?? null);
}
