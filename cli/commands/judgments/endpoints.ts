/** The endpoints of a Worker for judgment files, and its refusals. */
import * as z from 'zod';
import { RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { connect, keyOfWorker, readUrl } from '../../shared/worker.ts';
import { refusal } from '../../shared/worker-failures.ts';

export type JudgmentEndpoints = {
  readonly export: URL;
  readonly import: URL;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Checks that the Worker of `--url` answers.
 * @throws UsageError for a wrong or missing URL, RunError if no Worker answers.
 */
export async function connectForJudgments(flags: Flags): Promise<JudgmentEndpoints> {
  const [url, key] = [flags.text('url') ?? '', keyOfWorker(flags)];
  await connect(flags, () => undefined, new UsageError('only a Worker stores judgments: give its --url'));
  const { href } = readUrl(url);
  const base = new URL(href.endsWith('/') ? href : `${href}/`);
  return {
    export: new URL('v1/judgments:export', base),
    import: new URL('v1/judgments:import', base),
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  };
}

const problemSchema = z.looseObject({ reason: z.string(), detail: z.string() });

const HINTS: ReadonlyMap<string, string> = new Map([
  ['scope_missing', 'Export needs a key with the scope score, import one with the scope admin.'],
]);

/** The error for a reply other than 200. @param body the parsed reply; `undefined` if it is not JSON. */
export function refusedByWorker(status: number, body: unknown): RunError {
  const problem = problemSchema.safeParse(body);
  if (!problem.success) return new RunError(`the Worker gave an unexpected reply: ${status}`);
  const { reason, detail } = problem.data;
  return refusal(status, { reason, detail }, HINTS);
}
