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
 * Plans 1 to MAX_PROCESSES processes. The first has whatever no other has; the second calls the judges; more of them
 * only answer requests.
 * @param classes all classes of Durable Objects.
 */
export function planProcesses(count: number, classes: readonly string[]): readonly [ServeProcess, ...ServeProcess[]] {
  if (count === 1) return [{ name: 'main', answers: true, hasStores: true, classes }];
  const others = classes.filter((name) => name !== JUDGE_CLASS);
  return [
    { name: 'main', answers: true, hasStores: true, classes: others },
    { name: 'judges', answers: false, hasStores: false, classes: classes.filter((name) => name === JUDGE_CLASS) },
    ...Array.from({ length: count - 2 }, (_, n): ServeProcess => {
      return { name: `answers-${n + 1}`, answers: true, hasStores: false, classes: [] };
    }),
  ];
}

/** The order in which processes end: each before those whose objects and stores it uses. */
export function endingOrder<P extends { readonly plan: ServeProcess }>(processes: readonly P[]): readonly P[][] {
  const isOf = (uses: (plan: ServeProcess) => boolean): P[] => processes.filter(({ plan }) => uses(plan));
  return [
    isOf(({ answers, hasStores }) => answers && !hasStores),
    isOf(({ answers, hasStores }) => answers && hasStores),
    isOf(({ answers }) => !answers),
  ];
}
