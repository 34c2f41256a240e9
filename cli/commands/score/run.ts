/**
 * `citeward score`: prints a reward for each row. This process and a Worker give the same replies for the same rows.
 */
import type { Client } from '../../../clients/typescript/client.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { scoreRollout } from '../../../src/scoring/score-rollouts.ts';
import {
  requestedRollout,
  type ScoreRequest,
  type ScoreResponse,
  scoreRequestSchema,
} from '../../../src/wire/score.ts';
import { scoreWithOffsets } from '../../../src/wire/score-offsets.ts';
import type { Command } from '../../shared/command.ts';
import type { Flags } from '../../shared/flags.ts';
import { checkLocalFlags } from '../../shared/local-flags.ts';
import {
  LEXICAL_NOTICE,
  localJudging,
  NO_RECEIPTS_HERE,
  NO_RUNS_HERE,
  namesAnotherJudge,
} from '../../shared/local-judging.ts';
import { Progress } from '../../shared/progress.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { lineProblem } from '../../shared/rows.ts';
import { type Outcome, type RowHandler, runRows } from '../../shared/run-rows.ts';
import { applyScoringOptions, readScoringOptions, scoringFieldsSet } from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { resultTable } from '../../shared/table.ts';
import { CONCURRENCY_RANGE, connectIfGiven, REMOTE_CONCURRENCY } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { reasonsAsked, runPlaces, scoreSyntax } from './options.ts';
import { addToTable, printJson, SCORE_COLUMNS, ScoreSummary } from './render.ts';

export const scoreCommand: Command = { ...scoreSyntax, run };

async function run(flags: Flags): Promise<number> {
  const scoring = await readScoringOptions(flags);
  const addRun = runPlaces(flags);
  const askReasons = reasonsAsked(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openRows(flags, 'score examples/rollouts.jsonl');
  const progress = new Progress(process.stderr, input.bytes);
  screen.show(progress);
  const client = await connectIfGiven(flags, (text) => progress.remark(text));
  if (client === null) await checkLocalFlags(scoring);

  const table = flags.isOn('json') ? null : resultTable(SCORE_COLUMNS, screen);
  const summary = new ScoreSummary();
  const started = performance.now();
  await runRows({
    input,
    schema: scoreRequestSchema,
    prepare: (fields) => {
      const placed = addRun?.(fields) ?? fields;
      return applyScoringOptions(askReasons?.(placed) ?? placed, scoring);
    },
    handler: client === null ? localScoring() : remoteScoring(client, scoringFieldsSet(scoring)),
    concurrency,
    screen,
    progress,
    onInterrupted: async () => table?.end(),
    async onFinished(finished) {
      summary.add(finished.outcome);
      if (table === null) await printJson(finished, screen);
      else await addToTable(finished, table);
    },
  });
  await table?.end();
  return summary.print(screen, started);
}

type ScoreHandler = RowHandler<ScoreRequest, ScoreResponse>;

/** Rows of `/v1/score` may ask for the short reply, which lacks what the table and the summary show. */
const REFUSED_DETAIL = {
  kind: 'refused',
  problems: [{ field: 'detail', message: 'expected "full", which the table shows; a batch takes "reward", too' }],
} as const;

/** Scores through a Worker. @param flagFields the fields that flags set in every row. */
function remoteScoring(client: Client, flagFields: ReadonlySet<string>): ScoreHandler {
  return {
    notices: [],
    concurrency: REMOTE_CONCURRENCY,
    async handle(request) {
      if (request.detail === 'reward') return REFUSED_DETAIL;
      const reply = await client.score({ ...request, detail: 'full' });
      return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, flagFields);
    },
  };
}

/** Scores in this process, with the lexical judge. */
export function localScoring(): ScoreHandler {
  const judging = localJudging();
  return {
    notices: [LEXICAL_NOTICE],
    concurrency: 1,
    async handle(request): Promise<Outcome<ScoreResponse>> {
      const refused = (field: string, message: string) =>
        ({ kind: 'refused', problems: [{ field, message }] }) as const;
      if (request.detail === 'reward') return REFUSED_DETAIL;
      if (namesAnotherJudge(request)) {
        return refused(request.judges === undefined ? 'judge' : 'judges', `expected ${LEXICAL_JUDGE.name}`);
      }
      if (request.run !== undefined) return refused('run', NO_RUNS_HERE);
      if (request.receipt) return refused('receipt', NO_RECEIPTS_HERE);
      const recipe = await resolveRecipe(request.recipe);
      if (!recipe.ok) return { kind: 'refused', problems: recipe.problems.map(lineProblem) };
      const rollout = requestedRollout(request);
      const result = await scoreRollout(
        { rollout, recipe: recipe.resolved, plan: { explain: request.explain } },
        judging(request),
      );
      switch (result.status) {
        case 'invalid':
          return { kind: 'refused', problems: result.problems.map(lineProblem) };
        case 'missing':
          return {
            kind: 'failed',
            reason: 'judgment_missing',
            detail: 'the cache of this process does not contain the judgment',
          };
        case 'done':
          return { kind: 'done', reply: scoreWithOffsets(request.offsets, result.reply, rollout) };
      }
    },
  };
}
