/** `citeward verify`: verifies the citations of each row in this process or through a Worker, without a judge. */
import { verifyRequestSchema } from '../../../src/wire/verify.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { Progress } from '../../shared/progress.ts';
import { verifyFields } from '../../shared/row-fields.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { openRowHost } from '../../shared/row-host.ts';
import { runRows } from '../../shared/run-rows.ts';
import { Screen } from '../../shared/screen.ts';
import { resultTable } from '../../shared/table.ts';
import { CONCURRENCY_RANGE } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { readMode, readVerifyFields, verifySyntax } from './options.ts';
import { summaryText, VERIFY_COLUMNS, verifyRow } from './render.ts';

export const verifyCommand: Command = { ...verifySyntax, run };

async function run(flags: Flags): Promise<number> {
  const evidence = flags.choice('evidence', ['lexical', 'none']) ?? 'lexical';
  const flagFields = readVerifyFields(flags);
  const mode = readMode(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const screen = new Screen(flags);
  const input = await openRows(flags, 'verify examples/rollouts.jsonl', true);
  const progress = new Progress(screen.errors, input.bytes);
  screen.show(progress);
  const { client, concurrency: byDefault } = await openRowHost(flags, (text) => progress.remark(text), null);
  const fieldsSet = new Set(Object.keys(flagFields));

  const table = flags.isOn('json') ? null : resultTable(VERIFY_COLUMNS, screen);
  const counts = { verified: 0, wellFormed: 0, bad: 0 };
  const started = performance.now();
  await runRows({
    input,
    schema: verifyRequestSchema,
    prepare: (fields) => ({ ...verifyFields(fields, null), ...flagFields }),
    handler: {
      notices: [],
      concurrency: byDefault,
      async handle(request) {
        const reply = await client.verify(request, { evidence });
        return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, fieldsSet);
      },
    },
    concurrency,
    screen,
    progress,
    onInterrupted: async () => table?.end(),
    async onFinished({ line, labels, outcome }) {
      if (outcome.kind !== 'done') {
        counts.bad++;
        if (outcome.kind === 'failed') screen.message(`line ${line}: ${outcome.reason}: ${outcome.detail}`, 'red');
        return;
      }
      counts.verified++;
      counts.wellFormed += outcome.reply.format[mode];
      if (table === null) await screen.result(JSON.stringify({ line, id: labels.id, ...outcome.reply }));
      else await table.add(verifyRow(line, labels, outcome.reply, mode));
    },
  });
  await table?.end();
  screen.message(summaryText(evidence, counts, (performance.now() - started) / 1000), 'bold');
  return counts.bad === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}
