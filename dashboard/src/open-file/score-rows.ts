/** Scores the rows of an opened file, and records them with their text in a run of this Worker. */
import { isJsonObject, type JsonObject } from '../../../src/json.ts';
import { citationsOnly } from '../../../src/wire/rows/citations-only.ts';
import { withReadAnswer, withSourceTexts } from '../../../src/wire/rows/columns.ts';
import { groupPlaces } from '../../../src/wire/rows/group-places.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';
import { type CallFailure, callApi } from '../api/call.ts';

export type ScoredRows = {
  readonly done: number;
  /** Rows that the Worker refused, and the first reason. */
  readonly refused: number;
  readonly failure: CallFailure | null;
  readonly steps: ReadonlySet<number>;
};

/** Labels of rows, which are not sent. */
const LABELS: ReadonlySet<string> = new Set(['id', 'note', 'training_row']);
const AT_ONCE = 8;

/** @param recipe of rows that have criteria. @throws DOMException (AbortError) when `signal` aborts. */
export async function scoreRows(
  rows: readonly JsonObject[],
  { run, recipe, judge }: { readonly run: string; readonly recipe: string; readonly judge: string },
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (scored: ScoredRows) => void },
): Promise<void> {
  const placeOf = groupPlaces();
  const bodies = rows.map((row) => bodyOf(row, placeOf, run, recipe, judge));
  let scored: ScoredRows = { done: 0, refused: 0, failure: null, steps: new Set() };
  let next = 0;
  const work = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      const reply = await callApi<ScoreResponse>('/v1/score', { method: 'POST', body: body.fields, signal });
      scored = reply.ok
        ? { ...scored, done: scored.done + 1, steps: new Set([...scored.steps, body.step]) }
        : { ...scored, refused: scored.refused + 1, failure: scored.failure ?? reply.failure };
      onProgress(scored);
      // A Worker that is gone, or a key that is wrong, refuses all rows alike.
      if (!reply.ok && (reply.failure.kind !== 'problem' || reply.failure.problem.status === 401)) return;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
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
