/** `citeward refine`: questions and tool output in, cited answers out, verified while they are written. */
import { EXTRACTIVE_NAME } from '../../functions/backends/extractive-generator.ts';
import { refineRequestSchema } from '../../src/wire/refine.ts';
import type { Flags } from '../arguments/flags.ts';
import { type Command, UsageError } from '../command.ts';
import { openInput } from '../input/open-input.ts';
import { sayEnd } from '../output/end.ts';
import { Progress } from '../output/progress.ts';
import { Screen } from '../output/screen.ts';
import {
  REFINE_FLAGS,
  type RefineAsked,
  readRefineAsked,
  refineFieldsAsked,
  withRefineAsked,
} from '../refine/asked.ts';
import { refineFields } from '../refine/fields.ts';
import { Page } from '../refine/page.ts';
import { localRefining, type RefineService, remoteRefining } from '../refine/service.ts';
import { RefineTally, rowLines } from '../refine/tally.ts';
import { CONCURRENCY_RANGE, connect, REMOTE_FLAGS } from '../remote/connect.ts';
import { runRows } from '../run-rows.ts';
import { type Asked, defaultRecipe, fieldsAsked, firstFlagAsked, readAsked, SCORING_FLAGS } from '../score/asked.ts';
import { checkLocalFlags } from '../score/service.ts';

export const refineCommand: Command = {
  name: 'refine',
  summary: 'Have a policy answer from tool output: cited answers, verified while they are written.',
  usage: ['refine FILE.jsonl [flags]', 'refine - [flags]         (rows from standard input)'],
  flags: [
    ...REFINE_FLAGS,
    ...SCORING_FLAGS.filter(({ name }) => name !== 'receipt'),
    { name: 'json', kind: 'switch', help: 'One JSON result a line, with its line and id, once it is whole.' },
    ...REMOTE_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/refine, and if you like id and note. Flags win over a row.',
    'Fields about a response that is there already (response, finish_reason, …) are not read.',
    'Candidates are scored where the row or a flag says how (--recipe, --set, --judge, --judgments).',
    'Marks: ✓ its words stand in what it cites, ~ not enough of them do, ✗ it cites what does not exist.',
    'Without --url the built-in extractive refiner answers: it copies sentences and is no model.',
    'Exit code: 0 all rows done, 1 some lines bad, failed or not scored, 2 wrong command line.',
  ],
  run,
};

async function run(flags: Flags): Promise<number> {
  const asked = await readAsked(flags);
  const refining = readRefineAsked(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const isJson = flags.isOn('json');
  if (concurrency !== null && !isJson) {
    throw new UsageError('--concurrency needs --json: what is shown while it is written comes row by row');
  }
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(flags.positionals, 'refine');
  const progress = new Progress(process.stderr, isJson ? input.bytes : null);
  screen.show(progress);
  const service = await serviceFor(flags, asked, refining, progress);
  for (const notice of service.notices) screen.message(notice, 'dim');

  const tally = new RefineTally();
  const started = performance.now();
  await runRows({
    input,
    schema: refineRequestSchema,
    prepare: (fields) => withRefineAsked(refineFields(fields, asked), refining),
    service: {
      notices: service.notices,
      concurrency: isJson ? service.concurrency : 1,
      async handle(request) {
        if (isJson) return service.refine(request, null);
        const page = new Page(request, screen);
        await page.begin();
        try {
          return await service.refine(request, (event) => page.tell(event));
        } finally {
          page.end();
        }
      },
    },
    concurrency,
    screen,
    progress,
    async onFinished({ line, labels, outcome }) {
      tally.add(outcome);
      if (outcome.kind === 'failed') screen.message(`line ${line}: ${outcome.reason}: ${outcome.detail}`, 'red');
      if (outcome.kind !== 'done') return;
      if (isJson) return screen.result(JSON.stringify({ line, id: labels.id, ...outcome.reply }));
      for (const text of rowLines(line, labels, outcome.reply)) {
        await screen.result(screen.resultStyle('dim', `  ${text}`));
      }
    },
  });
  return sayEnd(screen, tally, started);
}

async function serviceFor(
  flags: Flags,
  asked: Asked,
  refining: RefineAsked,
  progress: Progress,
): Promise<RefineService> {
  const url = flags.text('url');
  if (url !== null) {
    const client = await connect(url, flags.text('key'), ({ why, wait_ms }) => {
      progress.remark(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`);
    });
    return remoteRefining(client, new Set([...fieldsAsked(asked), ...refineFieldsAsked(refining)]));
  }
  if (flags.text('key') !== null) throw new UsageError('--key is for a Worker: give its --url too');
  const generator = flags.text('generator');
  if (generator !== null && generator !== EXTRACTIVE_NAME) {
    throw new UsageError(
      `--generator: this process has only "${EXTRACTIVE_NAME}"`,
      'Models are configured in a Worker: --url URL --generator NAME',
    );
  }
  const isScored = firstFlagAsked(asked) !== null;
  const { judge, judgments, receipt } = asked;
  if (isScored) await checkLocalFlags({ recipe: defaultRecipe(asked), judge, judgments, receipt });
  return localRefining(isScored);
}
