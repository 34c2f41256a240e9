/** `citeward verify`: rows in, what can be said of their citations without a judge out. */
import { GRAMMAR_NAMES } from '../../src/citations/grammars.ts';
import type { Verification } from '../../src/citations/verify.ts';
import { verifyRequestSchema } from '../../src/wire/verify.ts';
import type { Flags } from '../arguments/flags.ts';
import { type Command, EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../command.ts';
import { openInput } from '../input/open-input.ts';
import { type Labels, withoutFields } from '../input/rows.ts';
import { durationText, Progress } from '../output/progress.ts';
import { badLinesText } from '../output/reward-tally.ts';
import { Screen } from '../output/screen.ts';
import { Table } from '../output/table.ts';
import { CONCURRENCY_RANGE, connect, REMOTE_FLAGS } from '../remote/connect.ts';
import { runRows } from '../run-rows.ts';
import { SCORING_ONLY_FIELDS } from '../verify/fields.ts';
import { type Evidence, localVerification, remoteVerification, type VerifyService } from '../verify/service.ts';
import { VERIFY_COLUMNS, verifyRow } from '../verify/table.ts';

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'Check the citations of responses: no judge, no recipe.',
  usage: ['verify FILE.jsonl [flags]', 'verify - [flags]         (rows from standard input)'],
  flags: [
    { name: 'evidence', kind: 'text', value: 'none|lexical', help: 'lexical: compare claims with their sources.' },
    { name: 'grammar', kind: 'text', value: 'NAME', help: `How citations are marked: ${GRAMMAR_NAMES.join(', ')}.` },
    { name: 'answer', kind: 'text', value: 'first|last|whole', help: 'Which text is the answer.' },
    { name: 'mode', kind: 'text', value: 'answer_only|full', help: 'Whether text outside the answer is a finding.' },
    { name: 'json', kind: 'switch', help: 'One JSON result a line, with its line and id, instead of the table.' },
    ...REMOTE_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/verify, and if you like id and note. Flags win over a row.',
    'Fields that only scoring reads (rubrics, reasoning, recipe, …) may be there and are not read.',
    'Lexical evidence compares words: a flag for people and filters, not a verdict.',
    'Exit code: 0 all rows done, 1 some lines bad, 2 wrong command line.',
  ],
  run,
};

async function run(flags: Flags): Promise<number> {
  const evidence = flags.choice('evidence', ['none', 'lexical']) ?? 'none';
  const overrides = readOverrides(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(flags.positionals, 'verify');
  const progress = new Progress(process.stderr, input.bytes);
  screen.show(progress);
  const service = await serviceFor(flags, evidence, new Set(Object.keys(overrides)), progress);

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

function readOverrides(flags: Flags): Readonly<Record<string, string>> {
  const grammar = flags.choice('grammar', GRAMMAR_NAMES);
  const answer = flags.choice('answer', ['first', 'last', 'whole']);
  const mode = flags.choice('mode', ['answer_only', 'full']);
  return {
    ...(grammar === null ? {} : { grammar }),
    ...(answer === null ? {} : { answer }),
    ...(mode === null ? {} : { mode }),
  };
}

async function serviceFor(
  flags: Flags,
  evidence: Evidence,
  flagFields: ReadonlySet<string>,
  progress: Progress,
): Promise<VerifyService> {
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
