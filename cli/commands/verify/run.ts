/** `citeward verify`: rows in, what can be said of their citations without a judge out. */
/** Verifying rows: in this process, or by a Worker. No judge either way. */

import type { Client } from '../../../clients/typescript/client.ts';
import type { Verification } from '../../../src/citations/verify.ts';
import { pathText } from '../../../src/input-problem.ts';
import { type VerifyRequest, verifyRequested, verifyRequestSchema } from '../../../src/wire/verify.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { openInput } from '../../shared/input.ts';
import { durationText } from '../../shared/number-text.ts';
import { Progress } from '../../shared/progress.ts';
import { SCORING_ONLY_FIELDS } from '../../shared/row-fields.ts';
import { type Labels, withoutFields } from '../../shared/rows.ts';
import { type RowHandler, runRows } from '../../shared/run-rows.ts';
import { Screen } from '../../shared/screen.ts';
import { badLinesText } from '../../shared/summary.ts';
import { Table } from '../../shared/table.ts';
import { CONCURRENCY_RANGE, connect, REMOTE_CONCURRENCY } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { readOverrides, verifySyntax } from './options.ts';
import { VERIFY_COLUMNS, verifyRow } from './render.ts';

export const verifyCommand: Command = { ...verifySyntax, run };

async function run(flags: Flags): Promise<number> {
  const evidence = flags.choice('evidence', ['none', 'lexical']) ?? 'none';
  const overrides = readOverrides(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(flags.positionals, 'verify');
  const progress = new Progress(process.stderr, input.bytes);
  screen.show(progress);
  const service = await handlerFor(flags, evidence, new Set(Object.keys(overrides)), progress);

  const table = flags.isOn('json')
    ? null
    : new Table(VERIFY_COLUMNS, screen.width, screen.resultStyle, (line) => screen.result(line));
  const counts = { verified: 0, wellFormed: 0, bad: 0 };
  const mode = flags.choice('mode', ['answer_only', 'full']) ?? 'full';
  const started = performance.now();
  await runRows({
    input,
    schema: verifyRequestSchema,
    prepare: (fields) => ({ ...withoutFields(fields, SCORING_ONLY_FIELDS), ...overrides }),
    service,
    concurrency,
    screen,
    progress,
    async onFinished(finished) {
      const { line, labels, outcome } = finished;
      if (outcome.kind !== 'done') {
        counts.bad++;
        if (outcome.kind === 'failed') screen.message(`line ${line}: ${outcome.reason}: ${outcome.detail}`, 'red');
        return;
      }
      counts.verified++;
      counts.wellFormed += outcome.reply.format[mode];
      if (table === null) await printJson(line, labels.id, outcome.reply, screen);
      else await table.add(verifyRow(line, labels, outcome.reply, mode));
    },
  });
  await table?.end();
  const parts = [`${counts.verified} ${counts.verified === 1 ? 'row' : 'rows'} verified`];
  if (counts.verified > 0) parts.push(`${counts.wellFormed} well formed`);
  if (counts.bad > 0) parts.push(badLinesText(counts.bad));
  screen.message([...parts, durationText((performance.now() - started) / 1000)].join(' · '), 'bold');
  return counts.bad === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

async function handlerFor(
  flags: Flags,
  evidence: Evidence,
  flagFields: ReadonlySet<string>,
  progress: Progress,
): Promise<VerifyHandler> {
  const url = flags.text('url');
  if (url === null) {
    if (flags.text('key') !== null) throw new UsageError('--key is for a Worker: give its --url too');
    return localVerification(evidence);
  }
  const client = await connect(url, flags.text('key'), ({ why, wait_ms }) => {
    progress.remark(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`);
  });
  return remoteVerification(client, evidence, flagFields);
}

function printJson(line: number, id: Labels['id'], reply: Verification, screen: Screen): Promise<void> {
  return screen.result(JSON.stringify({ line, id, ...reply }));
}

type Evidence = 'none' | 'lexical';

type VerifyHandler = RowHandler<VerifyRequest, Verification>;

function remoteVerification(client: Client, evidence: Evidence, flagFields: ReadonlySet<string>): VerifyHandler {
  return {
    notices: [],
    concurrency: REMOTE_CONCURRENCY,
    async handle(request) {
      const reply = await client.verify(request, { evidence });
      return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, flagFields);
    },
  };
}

function localVerification(evidence: Evidence): VerifyHandler {
  return {
    notices: [],
    concurrency: 1,
    async handle(request) {
      const result = verifyRequested(request, evidence);
      if (result.ok) return { kind: 'done', reply: result.verification };
      const problems = result.problems.map(({ path, message }) => ({ field: pathText(path), message }));
      return { kind: 'refused', problems };
    },
  };
}
