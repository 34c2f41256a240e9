/**
 * How `citeward serve` divides the Worker among processes of workerd, each of which has one thread. Every object and
 * every store is in one process; the others reach it over a Unix socket.
 */

export type ServeProcess = {
  /** Part of file names. */
  readonly name: string;
  /** Whether it answers requests of callers. */
  readonly answers: boolean;
  /** Whether it has KV, R2, D1, the queues and the cron triggers. */
  readonly hasStores: boolean;
  /** The classes whose Durable Objects it has. */
  readonly classes: readonly string[];
};

export const MAX_PROCESSES = 64;

/** Judge calls take most of the time of a fresh judgment, so their objects are the first to get a process. */
const JUDGE_CLASS = 'JudgeDesk';

/**
 * Plans 1 to MAX_PROCESSES processes: `main` has all that no other has, `judges` calls the judges, and the rest answer
 * requests; if there is no rest, `main` answers.
 * @param classes all classes of Durable Objects.
 */
export function planProcesses(count: number, classes: readonly string[]): readonly ServeProcess[] {
  const hasJudges = count > 1 && classes.includes(JUDGE_CLASS);
  const answering = Math.max(0, count - (hasJudges ? 2 : 1));
  return [
    {
      name: 'main',
      answers: answering === 0,
      hasStores: true,
      classes: hasJudges ? classes.filter((name) => name !== JUDGE_CLASS) : classes,
    },
    ...(hasJudges ? [{ name: 'judges', answers: false, hasStores: false, classes: [JUDGE_CLASS] }] : []),
    ...Array.from({ length: answering }, (_, n) => {
      return { name: `answers-${n + 1}`, answers: true, hasStores: false, classes: [] };
    }),
  ];
}

/** The order in which processes end: those that answer, then those whose objects and stores they have used. */
export function endingOrder<P extends { readonly plan: ServeProcess }>(processes: readonly P[]): readonly P[][] {
  const isOf = (uses: (plan: ServeProcess) => boolean): P[] => processes.filter(({ plan }) => uses(plan));
  return [
    isOf(({ answers }) => answers),
    isOf(({ answers, hasStores }) => !answers && hasStores),
    isOf(({ answers, hasStores }) => !answers && !hasStores),
  ];
}
