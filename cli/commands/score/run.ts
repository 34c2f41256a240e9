/** `citeward score`: rows in, rewards out. */
/** Scoring rows: in this process with the lexical judge, or by a Worker. Both give the same reply for the same row. */

import type { Client } from '../../../clients/typescript/client.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { type InputProblem, pathText } from '../../../src/input-problem.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { scoreRollout } from '../../../src/scoring/score-rollouts.ts';
import {
  requestedRollout,
  type ScoreRequest,
  type ScoreResponse,
  scoreRequestSchema,
} from '../../../src/wire/score.ts';
import type { Command } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { openInput } from '../../shared/input.ts';
import { checkLocalFlags } from '../../shared/local-flags.ts';
import {
  LEXICAL_NOTICE,
  localJudging,
  NO_RECEIPTS_HERE,
  NO_RUNS_HERE,
  namesAnotherJudge,
} from '../../shared/local-judging.ts';
import { Progress } from '../../shared/progress.ts';
import type { LineProblem } from '../../shared/rows.ts';
import { type Outcome, type RowHandler, runRows } from '../../shared/run-rows.ts';
import {
  applyScoringOptions,
  defaultRecipe,
  readScoringOptions,
  type ScoringOptions,
  scoringFieldsSet,
} from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { printSummary } from '../../shared/summary.ts';
import { Table } from '../../shared/table.ts';
import { CONCURRENCY_RANGE, connect, REMOTE_CONCURRENCY } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { runPlaces, scoreSyntax } from './options.ts';
import { addToTable, printJson, SCORE_COLUMNS, ScoreSummary } from './render.ts';

export const scoreCommand: Command = { ...scoreSyntax, run };

async function run(flags: Flags): Promise<number> {
  const asked = await readScoringOptions(flags);
  const places = runPlaces(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(flags.positionals, 'score');
  const progress = new Progress(process.stderr, input.bytes);
  screen.show(progress);
  const service = await handlerFor(flags, asked, progress);
  for (const notice of service.notices) screen.message(notice, 'dim');

  const table = flags.isOn('json')
    ? null
    : new Table(SCORE_COLUMNS, screen.width, screen.resultStyle, (line) => screen.result(line));
  const tally = new ScoreSummary();
  const started = performance.now();
  await runRows({
    input,
    schema: scoreRequestSchema,
    prepare: (fields) => applyScoringOptions(places?.(fields) ?? fields, asked),
    service,
    concurrency,
    screen,
    progress,
    async onFinished(finished) {
      tally.add(finished.outcome);
      if (table === null) await printJson(finished, screen);
      else await addToTable(finished, table);
    },
  });
  await table?.end();
  return printSummary(screen, tally, started);
}

async function handlerFor(flags: Flags, asked: ScoringOptions, progress: Progress): Promise<ScoreHandler> {
  const url = flags.text('url');
  if (url === null) {
    if (flags.text('key') !== null) throw new UsageError('--key is for a Worker: give its --url too');
    const { judge, judgments, receipt } = asked;
    await checkLocalFlags({ recipe: defaultRecipe(asked), judge, judgments, receipt });
    return localScoring();
  }
  const client = await connect(url, flags.text('key'), ({ why, wait_ms }) => {
    progress.remark(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`);
  });
  return remoteScoring(client, scoringFieldsSet(asked));
}

type ScoreHandler = RowHandler<ScoreRequest, ScoreResponse>;

/** Scoring by a Worker. @param flagFields fields that flags set for every row. */
function remoteScoring(client: Client, flagFields: ReadonlySet<string>): ScoreHandler {
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
export function localScoring(): ScoreHandler {
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

function lineProblem({ path, message }: InputProblem): LineProblem {
  return { field: path.length === 0 ? null : pathText(path), message };
}
