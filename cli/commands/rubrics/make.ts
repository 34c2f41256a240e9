/**
 * `citeward rubrics make`: a model of a Worker writes criteria for the question of each row. The output is the rows with
 * their criteria: edit the file, and score it.
 */

import * as z from 'zod';
import type { Client } from '../../../clients/typescript/client.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { type MakeRubricsReply, makeRubricsRequestSchema } from '../../../src/wire/make-rubrics.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { countOf } from '../../shared/number-text.ts';
import { Progress } from '../../shared/progress.ts';
import { rubricsFields } from '../../shared/row-fields.ts';
import { MAP_FLAG, openRows } from '../../shared/row-files/open-rows.ts';
import { type Fields, lineProblem } from '../../shared/rows.ts';
import { type Outcome, runRows } from '../../shared/run-rows.ts';
import { Screen } from '../../shared/screen.ts';
import { CONCURRENCY_RANGE, connect, REMOTE_CONCURRENCY, ROW_WORKER_FLAGS } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';

const syntax: CommandSyntax = {
  usage: [
    'rubrics make FILE.jsonl --url URL [flags]',
    'rubrics make - --url URL [flags]      (rows from standard input)',
  ],
  flags: [
    { name: 'judge', kind: 'text', value: 'JUDGE', help: 'The judge that writes, by its name in the Worker.' },
    { name: 'positive', kind: 'text', value: 'N', help: 'At most N positive criteria a row (default 5).' },
    { name: 'negative', kind: 'text', value: 'N', help: 'At most N negative criteria a row (default 3).' },
    { name: 'replicate', kind: 'text', value: 'N', help: 'Another independent generation, from 0 (default 0).' },
    { name: 'dry-run', kind: 'switch', help: 'Check the rows and ask no model.' },
    MAP_FLAG,
    ...ROW_WORKER_FLAGS,
  ],
  details: [
    'A row has a question, and any of tool_output or sources, reference, response or responses. Its own',
    'positive_rubrics and negative_rubrics, or rubrics, are kept, and none of them is written again.',
    'Prints the rows with the new criteria behind their own, one JSON object a line. Criteria that fail a',
    'check go to standard error with their reason.',
    'Exit code: 0 all rows done, 1 some lines invalid or without criteria, 2 wrong command line.',
  ],
};

const NO_URL = new UsageError('rubrics make needs a Worker: --url URL', 'With --dry-run the rows are only checked.');

export const makeCommand: Command = { ...syntax, run };

async function run(flags: Flags): Promise<number> {
  const most = {
    positive: flags.count('positive', { min: 0, max: 20 }),
    negative: flags.count('negative', { min: 0, max: 20 }),
  };
  const judge = flags.text('judge');
  const replicate = flags.count('replicate', { min: 0, max: 999_999 });
  const options = {
    most: Object.fromEntries(Object.entries(most).filter(([, count]) => count !== null)),
    ...(judge === null ? {} : { judge }),
    ...(replicate === null ? {} : { replicate }),
  };
  const screen = new Screen(flags);
  const input = await openRows(flags, 'rubrics make examples/rollouts.jsonl');
  const progress = new Progress(screen.errors, input.bytes);
  screen.show(progress);
  const client = flags.isOn('dry-run') ? null : await connect(flags, (text) => progress.remark(text), NO_URL);
  const counts = { rows: 0, made: 0, rejected: 0, failed: 0, bad: 0 };
  await runRows({
    input,
    // The row is one field, so that it is printed with all its own.
    schema: z.object({ row: z.record(z.string(), z.unknown()) }),
    prepare: (row) => ({ row }),
    handler: { notices: [], concurrency: REMOTE_CONCURRENCY, handle: ({ row }) => made(row, options, client) },
    concurrency: flags.count('concurrency', CONCURRENCY_RANGE),
    screen,
    progress,
    async onFinished({ line, labels: { id, note }, outcome }) {
      counts.rows++;
      if (outcome.kind === 'refused') counts.bad++;
      if (outcome.kind === 'failed') {
        counts.failed++;
        screen.message(`line ${line}: ${outcome.reason}: ${outcome.detail}`, 'red');
      }
      if (outcome.kind !== 'done' || outcome.reply.reply === null) return;
      const { row, reply } = outcome.reply;
      counts.made += reply.criteria.length;
      counts.rejected += reply.rejected.length;
      for (const { description, detail, of } of reply.rejected) {
        screen.message(`line ${line}: left out "${description}": ${detail}${of === null ? '' : `: "${of}"`}`, 'dim');
      }
      const labels = { ...(id === null ? {} : { id }), ...(note === null ? {} : { note }) };
      await screen.result(JSON.stringify({ ...labels, ...withCriteria(row, reply) }));
    },
  });
  const { rows, made: written, rejected, failed, bad } = counts;
  const what =
    client === null
      ? `${countOf(rows - bad, 'row')} would be asked about`
      : `${countOf(written, 'criterion', 'criteria')} for ${countOf(rows - failed - bad, 'row')} · ${rejected} left out`;
  screen.message(`${what} · ${failed} failed · ${countOf(bad, 'bad line')}`, 'bold');
  return failed + bad > 0 ? EXIT_INCOMPLETE : EXIT_OK;
}

/** `reply`: `null` in a dry run. */
type MadeRow = { readonly row: Fields; readonly reply: MakeRubricsReply | null };

async function made(row: Fields, options: object, client: Client | null): Promise<Outcome<MadeRow>> {
  const fields = { ...rubricsFields(row), ...options };
  const request = makeRubricsRequestSchema.safeParse(fields);
  if (!request.success) {
    return { kind: 'refused', problems: problemsOfIssues(request.error.issues, fields, []).map(lineProblem) };
  }
  if (client === null) return { kind: 'done', reply: { row, reply: null } };
  const reply = await client.makeRubrics(request.data);
  if (!reply.ok) return outcomeOfFailure(reply.failure, new Set(Object.keys(options)));
  return { kind: 'done', reply: { row, reply: reply.body } };
}

/** The row with the new criteria, in `rubrics` with signed weights if the row has its own there. */
function withCriteria(row: Fields, { criteria }: MakeRubricsReply): Fields {
  const { rubrics } = row;
  if (Array.isArray(rubrics)) {
    const signed = criteria.map(({ polarity, title, description, weight }) => ({
      ...(title === undefined ? {} : { title }),
      description,
      weight: polarity === 'negative' ? -weight : weight,
    }));
    return { ...row, rubrics: [...rubrics, ...signed] };
  }
  const listOf = (name: string, polarity: 'positive' | 'negative'): Fields => {
    const own = row[name];
    const added = criteria.filter((one) => one.polarity === polarity);
    if (added.length === 0) return {};
    const texts = added.map(({ title, description, weight }) => ({
      ...(title === undefined ? {} : { title }),
      description,
      weight,
    }));
    return { [name]: [...(Array.isArray(own) ? own : []), ...texts] };
  };
  return { ...row, ...listOf('positive_rubrics', 'positive'), ...listOf('negative_rubrics', 'negative') };
}
