/** `citeward refine`: generates cited answers from tool output and shows each claim as soon as it is complete. */
import type { RowClient } from '../../../hosts/memory/local-client.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import { type RefineRequest, refineRequestSchema } from '../../../src/wire/refine.ts';
import type { RefineReply } from '../../../src/wire/refine-reply.ts';
import { checkRecipe } from '../../shared/check-recipe.ts';
import type { Command } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { Progress } from '../../shared/progress.ts';
import { refineFields } from '../../shared/row-fields.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { openRowHost } from '../../shared/row-host.ts';
import { type Outcome, runRows } from '../../shared/run-rows.ts';
import { firstScoringFlag, readScoringOptions, scoringFieldsSet } from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { CONCURRENCY_RANGE } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { applyRefineOptions, readRefineOptions, refineFieldsSet, refineSyntax } from './options.ts';
import { type CandidateEvent, CandidatesView, RefineSummary, rowLines } from './render.ts';

export const refineCommand: Command = { ...refineSyntax, run };

async function run(flags: Flags): Promise<number> {
  const scoring = await readScoringOptions(flags);
  const options = readRefineOptions(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const isJson = flags.isOn('json');
  if (concurrency !== null && !isJson) {
    throw new UsageError('--concurrency needs --json', 'Without --json the rows are shown one after the other.');
  }
  const screen = new Screen(flags);
  const input = await openRows(flags, 'refine examples/rollouts.jsonl');
  const progress = new Progress(screen.errors, isJson ? input.bytes : null);
  screen.show(progress);
  const rows = await openRowHost(flags, (text) => progress.remark(text), scoring);
  const isScored = firstScoringFlag(scoring) !== null;
  if (isScored && flags.text('url') === null) await checkRecipe(scoring);
  const refine = refining(rows.client, new Set([...scoringFieldsSet(scoring), ...refineFieldsSet(options)]));

  const summary = new RefineSummary();
  const started = performance.now();
  await runRows({
    input,
    schema: refineRequestSchema,
    prepare: (fields) => applyRefineOptions(refineFields(fields, scoring), options),
    handler: {
      notices: [...rows.refinerNotices, ...(isScored ? rows.judgeNotices : [])],
      concurrency: isJson ? rows.concurrency : 1,
      async handle(request) {
        if (isJson) return refine(request, null);
        const view = new CandidatesView(request, screen);
        await view.begin();
        try {
          return await refine(request, (event) => view.show(event));
        } finally {
          view.end();
        }
      },
    },
    concurrency,
    screen,
    progress,
    async onFinished({ line, labels, outcome }) {
      summary.add(outcome);
      if (outcome.kind === 'failed') screen.message(`line ${line}: ${outcome.reason}: ${outcome.detail}`, 'red');
      if (outcome.kind !== 'done') return;
      if (isJson) return screen.result(JSON.stringify({ line, id: labels.id, ...outcome.reply }));
      for (const text of rowLines(line, labels, outcome.reply)) {
        await screen.result(screen.resultStyle('dim', `  ${plainLine(text)}`));
      }
    },
  });
  return summary.print(screen, started, rows.judged());
}

/** Refines one row. @param onEvent receives the events of the candidates; `null` = only the reply is wanted. */
type Refine = (
  request: RefineRequest,
  onEvent: ((event: CandidateEvent) => Promise<void>) | null,
) => Promise<Outcome<RefineReply>>;

/** @param flagFields the fields that flags set in every row. */
function refining(client: RowClient, flagFields: ReadonlySet<string>): Refine {
  return async ({ stream: _stream, ...request }, onEvent) => {
    if (onEvent === null) {
      const reply = await client.refine(request);
      return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, flagFields);
    }
    // What is shown has no offsets, and a stream has none in another unit.
    const opened = await client.refineStream({ ...request, offsets: 'utf16' });
    if (!opened.ok) return outcomeOfFailure(opened.failure, flagFields);
    for await (const event of opened.body) {
      switch (event.event) {
        case 'delta':
          await onEvent({ type: 'delta', ...event.data });
          break;
        case 'claim':
          await onEvent({ type: 'claim', ...event.data });
          break;
        case 'candidate':
          await onEvent({ type: 'candidate', ...event.data });
          break;
        case 'done':
          return { kind: 'done', reply: event.data };
        case 'error':
          return outcomeOfFailure({ kind: 'problem', status: event.data.status, problem: event.data }, flagFields);
        case 'lost':
          return outcomeOfFailure(event.failure, flagFields);
        case 'start':
        case 'thinking':
        case 'finding':
      }
    }
    throw new Error('refining: the stream has no last event');
  };
}
