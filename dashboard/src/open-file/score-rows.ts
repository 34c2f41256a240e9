/** Scores the rows of an opened file, and records them with their text in a run of this Worker. */
import { isJsonObject, type JsonObject } from '../../../src/json.ts';
import type { Problem } from '../../../src/wire/problem.ts';
import { citationsOnly } from '../../../src/wire/rows/citations-only.ts';
import { withReadAnswer, withSourceTexts } from '../../../src/wire/rows/columns.ts';
import { groupPlaces } from '../../../src/wire/rows/group-places.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';
import { type CallFailure, callApi } from '../api/call.ts';
import type { BadRow, OpenedRow } from './read-file.ts';

export type ScoredRows = {
  readonly done: number;
  /** Rows that the Worker refused, each with the reason. */
  readonly refused: readonly BadRow[];
  /** What ended the scoring: the Worker is gone, or the key is wrong. */
  readonly failure: CallFailure | null;
  readonly steps: ReadonlySet<number>;
};

/** Labels of rows, which are not sent. */
const LABELS: ReadonlySet<string> = new Set(['id', 'note', 'training_row']);
const AT_ONCE = 8;
/** A page that is drawn for each row of thousands is slow. */
const TOLD_EVERY_MS = 100;

/** @param recipe of rows that have criteria. @throws DOMException (AbortError) when `signal` aborts. */
export async function scoreRows(
  rows: readonly OpenedRow[],
  { run, recipe, judge }: { readonly run: string; readonly recipe: string; readonly judge: string },
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (scored: ScoredRows) => void },
): Promise<void> {
  const placeOf = groupPlaces();
  const refused: BadRow[] = [];
  const steps = new Set<number>();
  let [done, next, toldAt] = [0, 0, 0];
  let failure: CallFailure | null = null;
  const tell = (): void => {
    toldAt = performance.now();
    onProgress({ done, refused: [...refused], failure, steps: new Set(steps) });
  };
  const work = async (): Promise<void> => {
    for (let row = rows[next++]; row !== undefined && failure === null; row = rows[next++]) {
      const { fields, step } = bodyOf(row.fields, placeOf, run, recipe, judge);
      const reply = await callApi<ScoreResponse>('/v1/score', { method: 'POST', body: fields, signal });
      if (reply.ok) {
        done++;
        steps.add(step);
      } else if (reply.failure.kind === 'problem' && reply.failure.problem.status !== 401) {
        refused.push({ number: row.number, problem: refusalOf(reply.failure.problem) });
      } else failure ??= reply.failure;
      if (performance.now() - toldAt > TOLD_EVERY_MS) tell();
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    tell();
  }
}

const MAX_FIELDS_NAMED = 3;

/** Why a row is refused, by its fields if they are at fault. */
function refusalOf({ title, detail, errors = [] }: Problem): string {
  if (errors.length === 0) return `${title}: ${detail}`;
  const named = errors
    .slice(0, MAX_FIELDS_NAMED)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return [...named, ...(errors.length > MAX_FIELDS_NAMED ? [`and ${errors.length - MAX_FIELDS_NAMED} more`] : [])].join(
    '; ',
  );
}

function bodyOf(
  row: JsonObject,
  placeOf: (row: JsonObject) => JsonObject,
  id: string,
  recipe: string,
  judge: string,
): { readonly fields: JsonObject; readonly step: number } {
  const sent = Object.fromEntries(Object.entries(row).filter(([name]) => !LABELS.has(name)));
  const given = isJsonObject(sent['run']) ? sent['run'] : {};
  const place = placeOf({ ...sent, run: given['group'] === undefined ? null : given });
  const step = typeof given['step'] === 'number' ? given['step'] : 0;
  const scoring = { recipe, ...(judge === '' ? {} : { judge }) };
  const fields = withSourceTexts(withReadAnswer({ ...scoring, ...(citationsOnly(sent) ?? sent) }));
  return { fields: { ...fields, run: { ...place, id, step }, store_text: true }, step };
}
