/** `citeward refine`: questions and tool output in, cited answers out, verified while they are written. */
/** Refining rows: in this process with the extractive refiner, or by a Worker. Either way with events as they come. */

import type { Client } from '../../../clients/typescript/client.ts';
import { EXTRACTIVE_NAME } from '../../../lib/extractive-generator.ts';
import { pathText } from '../../../src/input-problem.ts';
import { type RefineRequest, refineRequestSchema } from '../../../src/wire/refine.ts';
import type { RefineReply } from '../../../src/wire/refine-reply.ts';
import type { Command } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { openInput } from '../../shared/input.ts';
import { checkLocalFlags } from '../../shared/local-flags.ts';
import { LEXICAL_NOTICE, localJudging } from '../../shared/local-judging.ts';
import { EXTRACTIVE_NOTICE, type RefiningFailure, refineLocally } from '../../shared/local-refining.ts';
import { Progress } from '../../shared/progress.ts';
import { refineFields } from '../../shared/row-fields.ts';
import { type Outcome, runRows } from '../../shared/run-rows.ts';
import {
  defaultRecipe,
  firstScoringFlag,
  readScoringOptions,
  type ScoringOptions,
  scoringFieldsSet,
} from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { printSummary } from '../../shared/summary.ts';
import { CONCURRENCY_RANGE, connect, REMOTE_CONCURRENCY } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { applyRefineOptions, type RefineOptions, readRefineOptions, refineFieldsSet, refineSyntax } from './options.ts';
import { type CandidateEvent, CandidateView, RefineSummary, rowLines } from './render.ts';

export const refineCommand: Command = { ...refineSyntax, run };

async function run(flags: Flags): Promise<number> {
  const asked = await readScoringOptions(flags);
  const refining = readRefineOptions(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const isJson = flags.isOn('json');
  if (concurrency !== null && !isJson) {
    throw new UsageError('--concurrency needs --json: what is shown while it is written comes row by row');
  }
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(flags.positionals, 'refine');
  const progress = new Progress(process.stderr, isJson ? input.bytes : null);
  screen.show(progress);
  const service = await handlerFor(flags, asked, refining, progress);
  for (const notice of service.notices) screen.message(notice, 'dim');

  const tally = new RefineSummary();
  const started = performance.now();
  await runRows({
    input,
    schema: refineRequestSchema,
    prepare: (fields) => applyRefineOptions(refineFields(fields, asked), refining),
    service: {
      notices: service.notices,
      concurrency: isJson ? service.concurrency : 1,
      async handle(request) {
        if (isJson) return service.refine(request, null);
        const page = new CandidateView(request, screen);
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
  return printSummary(screen, tally, started);
}

async function handlerFor(
  flags: Flags,
  asked: ScoringOptions,
  refining: RefineOptions,
  progress: Progress,
): Promise<RefineHandler> {
  const url = flags.text('url');
  if (url !== null) {
    const client = await connect(url, flags.text('key'), ({ why, wait_ms }) => {
      progress.remark(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`);
    });
    return remoteRefining(client, new Set([...scoringFieldsSet(asked), ...refineFieldsSet(refining)]));
  }
  if (flags.text('key') !== null) throw new UsageError('--key is for a Worker: give its --url too');
  const generator = flags.text('generator');
  if (generator !== null && generator !== EXTRACTIVE_NAME) {
    throw new UsageError(
      `--generator: this process has only "${EXTRACTIVE_NAME}"`,
      'Models are configured in a Worker: --url URL --generator NAME',
    );
  }
  const isScored = firstScoringFlag(asked) !== null;
  const { judge, judgments, receipt } = asked;
  if (isScored) await checkLocalFlags({ recipe: defaultRecipe(asked), judge, judgments, receipt });
  return localRefining(isScored);
}

type OnCandidateEvent = (event: CandidateEvent) => Promise<void>;

type RefineHandler = {
  /** @param tell `null` = nobody looks on. */
  readonly refine: (request: RefineRequest, tell: OnCandidateEvent | null) => Promise<Outcome<RefineReply>>;
  readonly notices: readonly string[];
  readonly concurrency: number;
};

/** Refining by a Worker. @param flagFields fields that flags set for every row. */
function remoteRefining(client: Client, flagFields: ReadonlySet<string>): RefineHandler {
  return {
    notices: [],
    concurrency: REMOTE_CONCURRENCY,
    async refine({ stream: _stream, ...request }, tell) {
      if (tell === null) {
        const reply = await client.refine(request);
        return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, flagFields);
      }
      const opened = await client.refineStream(request);
      if (!opened.ok) return outcomeOfFailure(opened.failure, flagFields);
      for await (const event of opened.body) {
        switch (event.event) {
          case 'delta':
            await tell({ type: 'delta', ...event.data });
            break;
          case 'claim':
            await tell({ type: 'claim', ...event.data });
            break;
          case 'candidate':
            await tell({ type: 'candidate', ...event.data });
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
      throw new Error('remoteRefining: a stream without a last event');
    },
  };
}

/** Refining in this process. @param isScored whether flags say so; a row can still ask for it. */
function localRefining(isScored: boolean): RefineHandler {
  const judging = localJudging();
  return {
    notices: isScored ? [EXTRACTIVE_NOTICE, LEXICAL_NOTICE] : [EXTRACTIVE_NOTICE],
    concurrency: 1,
    async refine(request, tell) {
      const result = await refineLocally(request, judging, async (event) => {
        if (tell === null || event.type === 'finding' || event.type === 'thinking') return;
        await tell(event);
      });
      return result.ok ? { kind: 'done', reply: result.reply } : outcomeOf(result.failure);
    },
  };
}

function outcomeOf(failure: RefiningFailure): Outcome<never> {
  switch (failure.reason) {
    case 'input_invalid': {
      const problems = failure.problems.map(({ path, message }) => ({ field: pathText(path), message }));
      return { kind: 'refused', problems };
    }
    case 'generator_unknown':
      return { kind: 'refused', problems: [{ field: 'generator', message: `expected ${EXTRACTIVE_NAME}` }] };
    case 'judge_unknown':
      return { kind: 'refused', problems: [{ field: 'judge', message: 'expected lexical' }] };
    case 'judgment_missing':
      return { kind: 'failed', reason: 'judgment_missing', detail: 'no stored judgment in this process' };
    case 'judgment_failed':
    case 'generation_failed':
      return { kind: 'failed', reason: failure.failure.reason, detail: failure.failure.detail };
  }
}
