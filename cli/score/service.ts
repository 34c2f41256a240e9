/** Scoring rows: in this process with the lexical judge, or by a Worker. Both give the same reply for the same row. */

import type { Client } from '../../clients/typescript/client.ts';
import { REFINER_FIELDS } from '../../src/families/refiner/recipe.ts';
import { resolveRecipe } from '../../src/families/resolve.ts';
import { type InputProblem, pathText } from '../../src/input-problem.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import { scoreRollout } from '../../src/scoring/score-rollouts.ts';
import type { ScoreResponse } from '../../src/wire/score.ts';
import { requestedRollout, type ScoreRequest } from '../../src/wire/score.ts';
import { didYouMean } from '../arguments/flags.ts';
import { UsageError } from '../command.ts';
import type { LineProblem } from '../input/rows.ts';
import { LEXICAL_NOTICE, localJudging, NO_RECEIPTS_HERE, NO_RUNS_HERE, namesAnotherJudge } from '../local/lexical.ts';
import type { Outcome, Service } from '../outcome.ts';
import { REMOTE_CONCURRENCY } from '../remote/connect.ts';
import { flagProblem, outcomeOfFailure } from '../remote/failures.ts';

export type ScoreService = Service<ScoreRequest, ScoreResponse>;

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
  const judging = localJudging();
  return {
    notices: [LEXICAL_NOTICE],
    concurrency: 1,
    async handle(request): Promise<Outcome<ScoreResponse>> {
      if (namesAnotherJudge(request.judge)) {
        return { kind: 'refused', problems: [{ field: 'judge', message: `expected ${LEXICAL_JUDGE.name}` }] };
      }
      if (request.run !== undefined) return { kind: 'refused', problems: [{ field: 'run', message: NO_RUNS_HERE }] };
      if (request.receipt) return { kind: 'refused', problems: [{ field: 'receipt', message: NO_RECEIPTS_HERE }] };
      const recipe = await resolveRecipe(request.recipe);
      if (!recipe.ok) return { kind: 'refused', problems: recipe.problems.map(lineProblem) };
      const result = await scoreRollout(
        { rollout: requestedRollout(request), recipe: recipe.resolved, plan: { explain: request.explain } },
        judging(request),
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
  readonly receipt?: boolean;
}): Promise<void> {
  if (flags.judge !== null && flags.judge !== LEXICAL_JUDGE.name) {
    throw new UsageError(
      `--judge: this process has only the judge "${LEXICAL_JUDGE.name}"`,
      'Models are configured in a Worker: --url URL --judge NAME',
    );
  }
  if (flags.judgments === 'only') {
    throw new UsageError('--judgments only: this process stores no judgments', 'A Worker does: --url URL');
  }
  if (flags.receipt === true) throw new UsageError('--receipt: this process signs nothing', 'A Worker does: --url URL');
  await checkRecipe(flags.recipe);
}

/** @throws UsageError for a recipe that is none. */
export async function checkRecipe(flag: string | Readonly<Record<string, unknown>>): Promise<void> {
  const recipe = await resolveRecipe(flag);
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
