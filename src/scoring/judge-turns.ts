/**
 * Takes judges in turn under one deadline. The next judge is asked only if one before it failed: another judge measures
 * something else, so it judges the whole rollout or group.
 */

/** A judge gets no turn if less time than this is left. */
const MIN_TURN_MS = 1_000;

/** `missing`: only stored judgments are wanted, and one is not there. */
export type TurnStatus = 'done' | 'failed' | 'missing';

/**
 * Attempts with each judge until an attempt has no failure.
 * @param judges at least one.
 * @param elapsed a clock in milliseconds.
 * @param attempt is told the time that is left, in milliseconds.
 * @returns the attempt without a failure, else the last one; but what is missing is reported of the judge that was asked
 * first.
 */
export async function takeTurns<J, A extends { readonly status: TurnStatus }>(
  judges: readonly J[],
  { deadline_ms, elapsed }: { readonly deadline_ms: number; readonly elapsed: () => number },
  attempt: (judge: J, left_ms: number) => Promise<A>,
): Promise<A> {
  const started = elapsed();
  let last: A | null = null;
  for (const judge of judges) {
    const left_ms = deadline_ms - (elapsed() - started);
    if (last !== null && left_ms < MIN_TURN_MS) break;
    const tried = await attempt(judge, left_ms);
    if (tried.status === 'done') return tried;
    last = last !== null && tried.status === 'missing' ? last : tried;
  }
  if (last === null) throw new RangeError('takeTurns: expected at least one judge');
  return last;
}
