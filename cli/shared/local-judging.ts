/** Judging in this process: by the built-in lexical judge, with the judgments of the last rollouts remembered. */

import { memoryStore } from '../../lib/memory-store.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import { JUDGE_DEADLINE_MS, type ObtainOptions } from '../../src/judgments/obtain.ts';
import type { ScoreRequest } from '../../src/wire/score.ts';

export const LEXICAL_NOTICE =
  'Judge: lexical, built in. It compares words and is no model: good for trying things out, not for training.';

/** Why a row that asks for a receipt is refused. */
export const NO_RECEIPTS_HERE = 'expected false: nothing signs here';

export const NO_RUNS_HERE = 'not here: runs are recorded by a Worker';

/** Judgments remembered in this process, so that equal rows are judged once; about 2 KB each. */
const MAX_REMEMBERED_JUDGMENTS = 10_000;

/** How judgments are had for a request. */
export type LocalJudging = (request: Pick<ScoreRequest, 'judgments' | 'replicate'>) => ObtainOptions;

export function localJudging(): LocalJudging {
  const store = memoryStore({ maxRecords: MAX_REMEMBERED_JUDGMENTS });
  return ({ judgments, replicate }) => ({
    judge: { ok: true, judge: LEXICAL_JUDGE },
    store,
    mode: judgments,
    replicate,
    deadline_ms: JUDGE_DEADLINE_MS,
    now: () => new Date().toISOString(),
    elapsed: () => performance.now(),
  });
}

/** Whether a request names a judge that this process does not have. */
export function namesAnotherJudge(judge: ScoreRequest['judge']): boolean {
  const named = typeof judge === 'string' ? [judge] : (judge ?? []);
  return named.some((name) => name !== LEXICAL_JUDGE.name);
}
