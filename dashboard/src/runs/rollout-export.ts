/** Writes rollouts as CSV (RFC 4180) and as JSON lines. */
import { FINDING_WORDS } from '../words/findings.ts';
import { findingCount, type ShownRollout } from './step-rollouts.ts';

type Cell = string | number | boolean | null;

/** One value for each column. Components have the prefix `component_`. */
function rolloutRecord({ rollout, standing, replayed }: ShownRollout): Readonly<Record<string, Cell>> {
  const { run, step, group, sample, attempt, reward, reason, components } = rollout;
  return {
    ...{ run, step, group, sample, attempt, reward, reason },
    rank: standing.rank,
    advantage: standing.advantage,
    ...(replayed === null
      ? {}
      : {
          replayed_reward: replayed.reward,
          replayed_advantage: replayed.advantage,
          sign_flipped: replayed.hasFlipped,
        }),
    ...Object.fromEntries(Object.entries(components).map(([name, value]) => [`component_${name}`, value])),
    findings: findingsText(rollout),
  };
}

/** `citation_id_unknown 2; claim_verbatim 1`; `null` = unknown. */
function findingsText(rollout: ShownRollout['rollout']): string | null {
  if (rollout.summary?.finding_counts == null) return null;
  return REASONS.flatMap((reason) => {
    const count = findingCount(rollout, reason);
    return count === 0 ? [] : [`${reason} ${count}`];
  }).join('; ');
}

const REASONS = Object.keys(FINDING_WORDS).filter((name): name is keyof typeof FINDING_WORDS =>
  Object.hasOwn(FINDING_WORDS, name),
);

export function jsonLinesOf(rollouts: readonly ShownRollout[]): string {
  return rollouts.map((one) => `${JSON.stringify(rolloutRecord(one))}\n`).join('');
}

/** With a head line; `null` is an empty cell. */
export function csvOf(rollouts: readonly ShownRollout[]): string {
  const records = rollouts.map(rolloutRecord);
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const lines = records.map((record) => columns.map((column) => cellText(record[column] ?? null)));
  return [columns, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  return /[",\r\n]/u.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
