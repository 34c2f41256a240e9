/** `citeward compare`: lets a judge compare the answers of each row in pairs, in this process or through a Worker. */
import { compareRequestSchema } from '../../../src/wire/compare.ts';
import type { Command } from '../../shared/command.ts';
import type { Flags } from '../../shared/flags.ts';
import { Progress } from '../../shared/progress.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { openRowHost } from '../../shared/row-host.ts';
import { rowPrinter } from '../../shared/row-printer.ts';
import { runRows } from '../../shared/run-rows.ts';
import { Screen } from '../../shared/screen.ts';
import { CONCURRENCY_RANGE } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { compareSyntax, readComparedFields } from './options.ts';
import { COMPARE_COLUMNS, CompareSummary, comparedRow } from './render.ts';

export const compareCommand: Command = { ...compareSyntax, run };

async function run(flags: Flags): Promise<number> {
  const { apply, names, judging } = readComparedFields(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const screen = new Screen(flags);
  const input = await openRows(flags, 'compare examples/comparisons.jsonl');
  const progress = new Progress(screen.errors, input.bytes);
  screen.show(progress);
  const rows = await openRowHost(flags, (text) => progress.remark(text), { ...judging, judges: null });

  const printer = rowPrinter(flags, screen, [COMPARE_COLUMNS, comparedRow], { rewards: null });
  const summary = new CompareSummary();
  const started = performance.now();
  await runRows({
    input,
    schema: compareRequestSchema,
    prepare: apply,
    handler: {
      notices: rows.judgeNotices,
      concurrency: rows.concurrency,
      async handle(request) {
        const reply = await rows.client.compare(request);
        return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, names);
      },
    },
    concurrency,
    screen,
    progress,
    onInterrupted: printer.end,
    async onFinished(finished) {
      summary.add(finished.outcome);
      await printer.print(finished);
    },
  });
  await printer.end();
  return summary.print(screen, started, rows.judged());
}
