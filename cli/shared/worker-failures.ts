/** What a failure of the client means for the run: this row is wrong, this row has no result, or nothing will work. */

import type { ClientFailure, ReceivedProblem } from '../../clients/typescript/reply.ts';
import { RunError, UsageError } from './exit.ts';
import type { Outcome } from './run-rows.ts';

type FailedOutcome = Exclude<Outcome<never>, { kind: 'done' }>;

/**
 * @param flagFields fields of the request that flags set: if the Worker refuses one of them it would refuse every row.
 * @throws RunError or UsageError if the same would happen to every other row.
 */
export function outcomeOfFailure(failure: ClientFailure, flagFields: ReadonlySet<string>): FailedOutcome {
  switch (failure.kind) {
    case 'unreachable':
      throw new RunError(`the Worker stopped answering: ${failure.why}`, 'What is printed so far is complete.');
    case 'unexpected_reply':
      throw new RunError(`the Worker gave an unexpected reply: ${failure.detail}`);
    case 'problem':
      return outcomeOfProblem(failure.status, failure.problem, flagFields);
  }
}

function outcomeOfProblem(status: number, problem: ReceivedProblem, flagFields: ReadonlySet<string>): FailedOutcome {
  const { reason, detail, request_id: requestId, errors } = problem;
  if (status === 422 || status === 413 || status === 400) {
    const problems = (errors ?? []).map(({ path, message }) => ({ field: path === '' ? null : path, message }));
    const ofFlags = problems.filter(({ field }) => field !== null && flagFields.has(firstStep(field)));
    if (ofFlags.length > 0) {
      throw new UsageError(ofFlags.map(({ field, message }) => flagProblem(field ?? '', message)).join('\n'));
    }
    return { kind: 'refused', problems: problems.length > 0 ? problems : [{ field: null, message: detail }] };
  }
  if (status === 409 || status === 503 || status === 429 || reason === 'internal') {
    return { kind: 'failed', reason, detail: reason === 'internal' ? `${detail} (request ${requestId})` : detail };
  }
  throw refusal(status, problem);
}

/** A failure that ends the run, whatever it is. */
export function runErrorOf(failure: ClientFailure): RunError {
  switch (failure.kind) {
    case 'unreachable':
      return new RunError(`the Worker stopped answering: ${failure.why}`);
    case 'unexpected_reply':
      return new RunError(`the Worker gave an unexpected reply: ${failure.detail}`);
    case 'problem':
      return refusal(failure.status, failure.problem);
  }
}

function refusal(status: number, { reason, detail, errors }: ReceivedProblem): RunError {
  const fields = (errors ?? []).map(({ path, message }) => `\n${path}: ${message}`).join('');
  return new RunError(`the Worker refuses: ${status} ${reason}: ${detail}${fields}`, HINTS.get(reason) ?? null);
}

const HINTS: ReadonlyMap<string, string> = new Map([
  ['key_missing', 'Set CITEWARD_KEY, or give --key. citeward keys add makes one.'],
  ['key_unknown', 'Is it the key of this deployment? citeward keys add makes a new one.'],
  ['batch_not_found', 'citeward batch list shows those that there are.'],
]);

/** A flag that is wrong as a whole is named as the flag; a field inside it by its path. */
export function flagProblem(path: string, message: string): string {
  return path === firstStep(path) ? `--${path}: ${message}` : `${path}: ${message}`;
}

/** `recipe.citation_weight` and `recipe["x"]` are about `recipe`. */
function firstStep(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? path;
}
