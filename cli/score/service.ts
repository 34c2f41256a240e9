/** Scoring rows: in this process with the lexical judge, or by a Worker. Both give the same reply for the same row. */

import { judgeLexically, LEXICAL_IDENTITY } from '../../src/evidence/judge.ts';
import type { InputProblem } from '../../src/input-problem.ts';
import type { Judge } from '../../src/judgments/judge.ts';
import { createMemoryJudgmentStore } from '../../src/judgments/store.ts';
import { JUDGE_DEADLINE_MS } from '../../src/limits.ts';
import { REFINER_FIELDS } from '../../src/recipes/refiner.ts';
import { resolveRecipe } from '../../src/recipes/resolve.ts';
import { scoreRollout } from '../../src/rewards/scoring.ts';
import { pathText } from '../../src/schema/issues.ts';
import { rolloutOf, type ScoreRequest, type ScoreResponse } from '../../src/schema/score.ts';
import { didYouMean } from '../arguments/flags.ts';
import type { Client } from '../client/client.ts';
import { UsageError } from '../command.ts';
import type { LineProblem } from '../input/rows.ts';
import { BoundedRecords } from '../local/bounded-records.ts';
import type { Outcome, Service } from '../outcome.ts';
import { REMOTE_CONCURRENCY } from '../remote/connect.ts';
import { flagProblem, outcomeOfFailure } from '../remote/failures.ts';

export type ScoreService = Service<ScoreRequest, ScoreResponse>;

/** Judgments remembered in this process, so that equal rows are judged once; about 2 KB each. */
const MAX_REMEMBERED_JUDGMENTS = 10_000;

const lexicalJudge: Judge = {
  name: 'lexical',
  identity: LEXICAL_IDENTITY,
  context_tokens: null,
  async judge(request) {
    return { ok: true, verdicts: judgeLexically(request), usage: null };
  },
};

/** Scoring by a Worker. @param flagFields fields that flags set for every row. */
export function remoteScoring(client: Client, flagFields: ReadonlySet<string>): ScoreService {
  return {
    notices: [],
    concurrency: REMOTE_CONCURRENCY,
    async handle(request) {
      const reply = await client.score(request);
      return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, flagFields);
    },
  };
}

/** Scoring in this process. */
export function localScoring(): ScoreService {
  const store = createMemoryJudgmentStore(new BoundedRecords(MAX_REMEMBERED_JUDGMENTS));
  return {
    notices: [
      'Judge: lexical, built in. It compares words and is no model: good for trying things out, not for training.',
    ],
    concurrency: 1,
    async handle(request): Promise<Outcome<ScoreResponse>> {
      const named = typeof request.judge === 'string' ? [request.judge] : (request.judge ?? []);
      if (named.some((name) => name !== lexicalJudge.name)) {
        return { kind: 'refused', problems: [{ field: 'judge', message: `expected ${lexicalJudge.name}` }] };
      }
      const recipe = await resolveRecipe(request.recipe);
      if (!recipe.ok) return { kind: 'refused', problems: recipe.problems.map(lineProblem) };
      const result = await scoreRollout(
        { rollout: rolloutOf(request), recipe: recipe.resolved },
        {
          judge: { ok: true, judge: lexicalJudge },
          store,
          mode: request.judgments,
          replicate: request.replicate,
          deadline_ms: JUDGE_DEADLINE_MS,
          now: () => new Date().toISOString(),
          elapsed: () => performance.now(),
        },
      );
      switch (result.status) {
        case 'invalid':
          return { kind: 'refused', problems: result.problems.map(lineProblem) };
        case 'missing':
          return { kind: 'failed', reason: 'judgment_missing', detail: 'no stored judgment in this process' };
        case 'done':
          return { kind: 'done', reply: result.reply };
      }
    },
  };
}

/** What the flags ask of a run in this process. @throws UsageError for what only a Worker has. */
export async function checkLocalFlags(flags: {
  readonly recipe: string | Readonly<Record<string, unknown>>;
  readonly judge: string | null;
  readonly judgments: 'use' | 'only' | 'skip' | null;
}): Promise<void> {
  if (flags.judge !== null && flags.judge !== lexicalJudge.name) {
    throw new UsageError(
      `--judge: this process has only the judge "${lexicalJudge.name}"`,
      'Models are configured in a Worker: --url URL --judge NAME',
    );
  }
  if (flags.judgments === 'only') {
    throw new UsageError('--judgments only: this process stores no judgments', 'A Worker does: --url URL');
  }
  const recipe = await resolveRecipe(flags.recipe);
  if (!recipe.ok) {
    throw new UsageError(
      recipe.problems.map(({ path, message }) => flagProblem(pathText(path), message)).join('\n'),
      recipeHint(recipe.problems),
    );
  }
}

/** The nearest field to one that does not exist. */
function recipeHint(problems: readonly InputProblem[]): string {
  for (const { path } of problems) {
    const field = path.at(-1);
    const near = path.length === 2 && typeof field === 'string' ? didYouMean(field, Object.keys(REFINER_FIELDS)) : null;
    if (near !== null && typeof field === 'string' && !Object.hasOwn(REFINER_FIELDS, field)) return near;
  }
  return 'citeward help score lists the recipes';
}

function lineProblem({ path, message }: InputProblem): LineProblem {
  return { field: path.length === 0 ? null : pathText(path), message };
}
