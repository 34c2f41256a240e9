/** Decides what a failure of the client means: the row is wrong, the row has no result, or the whole run ends. */

import type { ClientFailure, ReceivedProblem } from '../../clients/typescript/reply.ts';
import { plainLine } from '../../src/text/foreign-line.ts';
import { RunError, UsageError } from './exit.ts';
import { CITEWARD } from './program.ts';
import type { Outcome } from './run-rows.ts';

/**
 * Returns the outcome of a row whose request failed.
 * @param flagFields fields of the request that flags set: if the Worker refuses one of them, it refuses every row.
 * @throws RunError or UsageError if every other row would fail in the same way.
 */
export function outcomeOfFailure(
  failure: ClientFailure,
  flagFields: ReadonlySet<string>,
): Exclude<Outcome<never>, { kind: 'done' }> {
  if (failure.kind === 'unreachable') {
    throw new RunError(unreachableText(failure.why), 'The results printed so far are complete.');
  }
  if (failure.kind !== 'problem') throw runErrorOf(failure);
  const { status, problem } = failure;
  const { reason, detail, request_id: requestId, errors } = problem;
  if (status === 422 || status === 413 || status === 400) {
    const problems = (errors ?? []).map(({ path, message }) => ({ field: path === '' ? null : path, message }));
    const ofFlags = problems.flatMap(({ field, message }) =>
      field !== null && flagFields.has(firstStep(field)) ? [flagProblem(field, message)] : [],
    );
    if (ofFlags.length > 0) throw new UsageError(ofFlags.join('\n'));
    return { kind: 'refused', problems: problems.length > 0 ? problems : [{ field: null, message: detail }] };
  }
  if (status === 409 || status === 503 || status === 429 || reason === 'internal') {
    return { kind: 'failed', reason, detail: reason === 'internal' ? `${detail} (request ${requestId})` : detail };
  }
  throw refusal(status, problem);
}

/** The error for a failure that ends the run. */
export function runErrorOf(failure: ClientFailure): RunError {
  switch (failure.kind) {
    case 'unreachable':
      return new RunError(unreachableText(failure.why));
    case 'unexpected_reply':
      return new RunError(`the Worker gave an unexpected reply: ${plainLine(failure.detail)}`);
    case 'problem':
      return refusal(failure.status, failure.problem);
  }
}

export function unreachableText(why: string): string {
  return `the Worker stopped answering: ${plainLine(why)}`;
}

/**
 * The error for a problem that the Worker answered.
 * @param hints what to do, by reason; they win over the general ones.
 */
export function refusal(
  status: number,
  { reason, detail, errors }: Pick<ReceivedProblem, 'reason' | 'detail' | 'errors'>,
  hints: ReadonlyMap<string, string> = new Map(),
): RunError {
  const fields = (errors ?? []).map(({ path, message }) => `\n${plainLine(`${path}: ${message}`)}`).join('');
  const hint = hints.get(reason) ?? HINTS.get(reason) ?? null;
  const said = plainLine(`${reason}: ${detail}`);
  return new RunError(`the Worker refused the request: ${status} ${said}${fields}`, hint);
}

const HINTS: ReadonlyMap<string, string> = new Map([
  ['key_missing', `Set CITEWARD_KEY, or give --key. To make a key: ${CITEWARD} keys add NAME`],
  ['key_unknown', `Is it the key of this deployment? To make a new key: ${CITEWARD} keys add NAME`],
  ['batch_not_found', `To see the batches of the Worker: ${CITEWARD} batch list --url URL`],
]);

/** Names the flag if its whole value is wrong, else the path inside the value. */
export function flagProblem(path: string, message: string): string {
  return plainLine(path === firstStep(path) ? `--${path}: ${message}` : `${path}: ${message}`);
}

/** The first step of a path: `recipe` of `recipe.citation_weight` and of `recipe["x"]`. */
function firstStep(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? path;
}
