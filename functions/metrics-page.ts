/**
 * Gathers the figures of a deployment for `GET /metrics`. Every desk is asked for its state and for the counts of its
 * isolate; desk 0 adds the counts to its totals. docs/decisions/2026-11-23-metrics.md says why.
 */

import { RequestError } from '../service/failures.ts';
import { StorageError } from '../service/storage-error.ts';
import { withinMs } from '../service/within-ms.ts';
import { deskIn } from './desk/desk-client.ts';
import type { DeskFigures } from './desk/desk-figures.ts';
import { DESK_MESSAGE_VERSION } from './desk/desk-messages.ts';
import type { Environment, Settings } from './environment.ts';
import type { ObjectLoad } from './ledger/ledger-messages.ts';
import { activeShardLoads } from './ledger/ledger-size.ts';
import { logEvent } from './log-event.ts';
import { type GaugeName, sampleOf } from './metrics/catalogue.ts';
import { type Increment, isolateCounts } from './metrics/counts.ts';
import { openMetricsPage } from './metrics/open-metrics.ts';
import { activeProjects } from './projects/active-projects.ts';
import type { JudgmentScope } from './projects/judgment-scope.ts';

/** How long an object may take to answer, in milliseconds. */
const ANSWER_MS = 5_000;

/** Projects with desks of their own that are asked, and the desks that they may have together. */
const MAX_PROJECTS_ASKED = 20;
const MAX_PROJECT_DESKS_ASKED = 400;

type Bindings = Pick<Environment, 'JUDGE_DESK' | 'RUN_LEDGER' | 'DB' | 'JOBS' | 'DEAD_JOBS'>;

/**
 * Returns the page. A desk or store that does not answer is missing from the gauges, and `citeward_desks_unanswered`
 * counts it. If D1 does not say which projects have desks of their own, the gauges of desks are missing.
 * @throws RequestError `storage_failed` (retryable) if desk 0, which has the totals, does not answer.
 */
export async function metricsPage(bindings: Bindings, settings: Settings): Promise<string> {
  const [{ figures, leftOut }, shards, queues] = await Promise.all([
    deskFigures(bindings, settings),
    activeShardLoads(bindings.DB, bindings.RUN_LEDGER, Date.now()),
    queueGauges(bindings),
  ]);
  const answered = figures.filter((one) => one !== null);
  const increments = [...answered.flatMap((one) => one.increments), ...isolateCounts.drain()];
  const totals = await totalsWith(bindings, increments);
  return openMetricsPage([
    ...totals,
    ...(leftOut === null ? [] : [...deskGauges(answered, figures.length, leftOut), ...laneGauges(answered)]),
    ...ledgerGauges(shards),
    ...queues,
  ]);
}

type AskedDesks = {
  /** `null` = no answer. */
  readonly figures: readonly (DeskFigures | null)[];
  /** Active projects whose desks were not asked; `null` = D1 did not say which projects are active. */
  readonly leftOut: number | null;
};

/** Asks the shared desks, which also have what was judged before JUDGMENTS_SCOPE changed, and those of projects. */
async function deskFigures(bindings: Bindings, { desks, judgmentsScope }: Settings): Promise<AskedDesks> {
  const { projects, leftOut } = judgmentsScope === 'project' ? await projectsToAsk(bindings, desks) : NO_PROJECTS;
  const asked = [null, ...projects].flatMap((scope) =>
    Array.from({ length: desks }, (_, desk) => figuresOf(bindings, desk, scope)),
  );
  return { figures: await Promise.all(asked), leftOut };
}

const NO_PROJECTS = { projects: [], leftOut: 0 };

async function projectsToAsk(
  { DB }: Bindings,
  desks: number,
): Promise<{ readonly projects: readonly string[]; readonly leftOut: number | null }> {
  const limit = Math.max(1, Math.min(MAX_PROJECTS_ASKED, Math.floor(MAX_PROJECT_DESKS_ASKED / desks)));
  try {
    return await activeProjects(DB, Date.now(), limit);
  } catch (error) {
    if (error instanceof StorageError) return { projects: [], leftOut: null };
    throw error;
  }
}

async function figuresOf({ JUDGE_DESK }: Bindings, desk: number, scope: JudgmentScope): Promise<DeskFigures | null> {
  const asked = await answerOf(async () => await deskIn(JUDGE_DESK, desk, scope).figures(DESK_MESSAGE_VERSION));
  return asked ?? null;
}

async function totalsWith({ JUDGE_DESK }: Bindings, increments: readonly Increment[]): Promise<readonly Increment[]> {
  const message = { v: DESK_MESSAGE_VERSION, increments, read: true };
  const totals = await answerOf(async () => await deskIn(JUDGE_DESK, 0).addFigures(message));
  if (totals !== undefined && totals !== null) return totals;
  isolateCounts.restore(increments);
  throw new RequestError({ reason: 'storage_failed' });
}

/** `undefined` = no answer in time. */
async function answerOf<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    const answer = await withinMs(ask(), ANSWER_MS);
    return answer === 'late' ? undefined : answer;
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    logEvent('error', { event: 'figures_missing', error: name });
    return undefined;
  }
}

function deskGauges(figures: readonly DeskFigures[], desks: number, leftOut: number): Increment[] {
  const backlogs = figures.map(({ kv_backlog }) => kv_backlog);
  return [
    gauge('citeward_desks', [], desks),
    gauge('citeward_desks_unanswered', [], desks - figures.length),
    gauge('citeward_desk_projects_left_out', [], leftOut),
    gauge('citeward_desk_connections_waiting', [], sumOf(figures.map((one) => one.connections_waiting))),
    gauge('citeward_desk_prompt_bytes_highest', [], Math.max(0, ...figures.map((one) => one.prompt_bytes))),
    gauge('citeward_desk_kv_backlog', [], sumOf(backlogs)),
    gauge('citeward_desk_kv_backlog_highest', [], Math.max(0, ...backlogs)),
    gauge('citeward_desk_storage_bytes', [], sumOf(figures.map((one) => one.storage_bytes))),
  ];
}

function laneGauges(figures: readonly DeskFigures[]): Increment[] {
  const judges = Map.groupBy(
    figures.flatMap(({ lanes }) => lanes),
    ({ judge }) => judge,
  );
  return [...judges].flatMap(([judge, lanes]) => [
    gauge('citeward_judge_slots', [judge], sumOf(lanes.map(({ slots }) => slots))),
    gauge('citeward_judge_running', [judge], sumOf(lanes.map(({ running }) => running))),
    gauge('citeward_judge_waiting', [judge, 'live'], sumOf(lanes.map(({ waiting }) => waiting.live))),
    gauge('citeward_judge_waiting', [judge, 'batch'], sumOf(lanes.map(({ waiting }) => waiting.batch))),
    gauge('citeward_judge_breakers_open', [judge], lanes.filter(({ breaker_open }) => breaker_open).length),
  ]);
}

function ledgerGauges(shards: readonly ObjectLoad[] | null): Increment[] {
  if (shards === null) return [];
  const sizes = shards.map(({ bytes }) => bytes);
  const rates = shards.map(({ calls_per_s }) => calls_per_s);
  return [
    gauge('citeward_ledger_shards_active', [], shards.length),
    gauge('citeward_ledger_bytes', [], sumOf(sizes)),
    gauge('citeward_ledger_bytes_highest', [], Math.max(0, ...sizes)),
    gauge('citeward_ledger_calls_per_second_highest', [], Math.max(0, ...rates)),
  ];
}

async function queueGauges({ JOBS, DEAD_JOBS }: Bindings): Promise<Increment[]> {
  const queues = [['jobs', JOBS] as const, ['dead', DEAD_JOBS] as const];
  const gauges = queues.map(async ([name, queue]) => {
    const metrics = await answerOf(() => queue.metrics());
    return metrics === undefined ? [] : [gauge('citeward_queue_backlog', [name], metrics.backlogCount)];
  });
  return (await Promise.all(gauges)).flat();
}

function gauge(name: GaugeName, labels: readonly string[], value: number): Increment {
  return { sample: sampleOf(name, '', labels), value };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
