/** Measures prompts, in this process or through a Worker, a few at a time. */
import type { RowClient } from '../../../hosts/memory/local-client.ts';
import type { ProbedRow } from '../../../src/probe/probe-rows.ts';
import type { JudgeUse } from '../../../src/scoring/reward-reply.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import type { ProbeRequestBody, ProbeRowInput } from '../../../src/wire/probe.ts';
import { RunError, UsageError } from '../../shared/exit.ts';
import type { LineProblem } from '../../shared/rows.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';

/** Rows that were measured together. */
type MeasuredRows = { readonly rows: readonly ProbedRow[]; readonly judges: readonly JudgeUse[] };

type Probing =
  | ({ readonly kind: 'done' } & MeasuredRows)
  /** Some rows are wrong; `row` is the index of each among those that were asked about. */
  | { readonly kind: 'refused'; readonly problems: readonly (LineProblem & { readonly row: number })[] };

/** Measures rows that fit one request. */
export type Probe = (rows: readonly ProbeRowInput[]) => Promise<Probing>;

/** How the rows are judged. */
export type ProbeOptions = Omit<ProbeRequestBody, 'rows' | 'detail'>;

/** @throws UsageError if the recipe does not fit, RunError if the judge or the Worker fails. */
export function probeOf(
  client: Pick<RowClient, 'probeRecipe'>,
  options: ProbeOptions,
  flagFields: ReadonlySet<string>,
): Probe {
  return async (rows) => {
    const reply = await client.probeRecipe({ ...options, rows, detail: 'rows' });
    if (reply.ok) return { kind: 'done', rows: reply.body.measured ?? [], judges: reply.body.judges };
    const outcome = outcomeOfFailure(reply.failure, flagFields);
    if (outcome.kind === 'failed')
      throw new RunError(plainLine(`the rows were not measured: ${outcome.reason}: ${outcome.detail}`));
    return refusedRows(outcome.problems);
  };
}

const ROW_PATH = /^rows\[(\d+)\]\.?/;

/** @throws UsageError for a problem that is of no row. */
function refusedRows(problems: readonly LineProblem[]): Probing {
  return {
    kind: 'refused',
    problems: problems.map(({ field, message }) => {
      const row = ROW_PATH.exec(field ?? '');
      if (field === null || row === null) throw new UsageError(`${field === null ? '' : `--${field}: `}${message}`);
      return { row: Number(row[1]), field: field.slice(row[0].length), message };
    }),
  };
}
