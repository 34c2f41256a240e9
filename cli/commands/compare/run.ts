/** `citeward compare`: lets a judge compare the answers of each row in pairs, in this process or through a Worker. */
import type { Client } from '../../../clients/typescript/client.ts';
import { parseSources } from '../../../src/citations/sources.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { compareAnswers } from '../../../src/scoring/compare.ts';
import {
  type CompareRequest,
  type CompareResponse,
  compareReplyOf,
  compareRequestSchema,
  requestedComparison,
} from '../../../src/wire/compare.ts';
import type { Command } from '../../shared/command.ts';
import type { Flags } from '../../shared/flags.ts';
import { LEXICAL_NOTICE, localJudging, namesAnotherJudge } from '../../shared/local-judging.ts';
import { Progress } from '../../shared/progress.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { type RowHandler, runRows } from '../../shared/run-rows.ts';
import { Screen } from '../../shared/screen.ts';
import { resultTable } from '../../shared/table.ts';
import { CONCURRENCY_RANGE, connectIfGiven, REMOTE_CONCURRENCY } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { compareSyntax, readComparedFields } from './options.ts';
import { addToTable, COMPARE_COLUMNS, CompareSummary, printJson } from './render.ts';

export const compareCommand: Command = { ...compareSyntax, run };

async function run(flags: Flags): Promise<number> {
  const { apply, names } = readComparedFields(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openRows(flags, 'compare examples/comparisons.jsonl');
  const progress = new Progress(process.stderr, input.bytes);
  screen.show(progress);
  const client = await connectIfGiven(flags, (text) => progress.remark(text));

  const table = flags.isOn('json') ? null : resultTable(COMPARE_COLUMNS, screen);
  const summary = new CompareSummary();
  const started = performance.now();
  await runRows({
    input,
    schema: compareRequestSchema,
    prepare: apply,
    handler: client === null ? localComparing() : remoteComparing(client, names),
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

type CompareHandler = RowHandler<CompareRequest, CompareResponse>;

function remoteComparing(client: Client, flagFields: ReadonlySet<string>): CompareHandler {
  return {
    notices: [],
    concurrency: REMOTE_CONCURRENCY,
    async handle(request) {
      const reply = await client.compare(request);
      return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, flagFields);
    },
  };
}

function localComparing(): CompareHandler {
  const judging = localJudging();
  return {
    notices: [LEXICAL_NOTICE],
    concurrency: 1,
    async handle(request) {
      if (namesAnotherJudge(request)) {
        return { kind: 'refused', problems: [{ field: 'judge', message: `expected ${LEXICAL_JUDGE.name}` }] };
      }
      const compared = await compareAnswers(requestedComparison(request, parseSources), judging(request));
      if (compared.missing.length === 0) return { kind: 'done', reply: compareReplyOf(request, compared) };
      return { kind: 'failed', reason: 'judgment_missing', detail: 'the cache of this process does not contain it' };
    },
  };
}
