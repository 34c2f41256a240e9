/** Columns and cells that the tables of `citeward judge check` share. */
import { latencyText, NONE, percentText } from '../../shared/number-text.ts';
import type { Cell, Column } from '../../shared/table.ts';
import type { Cost, JudgingReport } from './measured-judge.ts';

export function right(title: string, most: number): Column {
  return { title, align: 'right', most };
}

export function costCells(judging: JudgingReport): Cell[] {
  return [
    failedCell(judging.failure_rate),
    { text: `${judging.calls}` },
    { text: tokensText(judging) },
    { text: latencyText(judging.mean_latency_ms) },
  ];
}

export function failedCell(rate: number | null): Cell {
  return { text: percentText(rate), colour: rate !== null && rate > 0 ? 'yellow' : null };
}

/** `12,345`; `12,345+` if some calls did not report their usage. */
function tokensText({ tokens, calls_without_usage }: Pick<Cost, 'tokens' | 'calls_without_usage'>): string {
  if (tokens === null) return NONE;
  const total = (tokens.prompt_tokens + tokens.completion_tokens).toLocaleString('en-US');
  return calls_without_usage > 0 ? `${total}+` : total;
}
