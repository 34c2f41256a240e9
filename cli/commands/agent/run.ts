/** `citeward agent`: questions in, trajectories of a policy with tools out, shown while they go on. */
/** Agents by a Worker, with events as they come. */

import type { Client } from '../../../clients/typescript/client.ts';
import { type AgentRequest, agentRequestSchema } from '../../../src/wire/agent.ts';
import type { AgentResponse } from '../../../src/wire/agent-reply.ts';
import type { Command } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { type Input, openInput } from '../../shared/input.ts';
import { Progress } from '../../shared/progress.ts';
import { type Outcome, runRows } from '../../shared/run-rows.ts';
import { Screen } from '../../shared/screen.ts';
import { printSummary } from '../../shared/summary.ts';
import { CONCURRENCY_RANGE, connect } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { agentFieldsSet, agentSyntax, applyAgentOptions, readAgentOptions } from './options.ts';
import { AgentSummary, type TrajectoryEvent, TrajectoryView, trajectoryLine } from './render.ts';

export const agentCommand: Command = { ...agentSyntax, run };

/** Each holds a slot of the generator for minutes. */
const AT_ONCE = 4;

async function run(flags: Flags): Promise<number> {
  const asked = await readAgentOptions(flags);
  const isJson = flags.isOn('json');
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  if (concurrency !== null && !isJson) {
    throw new UsageError('--concurrency needs --json: what is shown while it goes on comes row by row');
  }
  const url = flags.text('url');
  if (url === null) {
    throw new UsageError('agent needs a Worker: --url URL', 'It has the generator and the sandbox: docs/agent.md');
  }
  const screen = new Screen(flags.isOn('no-color'));
  const input = await inputOf(flags);
  const progress = new Progress(process.stderr, isJson ? input.bytes : null);
  screen.show(progress);
  const client = await connect(url, flags.text('key'), ({ why, wait_ms }) => {
    progress.remark(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`);
  });
  const fieldsAsked = agentFieldsSet(asked);

  const tally = new AgentSummary();
  const started = performance.now();
  await runRows({
    input,
    schema: agentRequestSchema,
    prepare: (fields) => applyAgentOptions(fields, asked),
    service: {
      notices: [],
      concurrency: isJson ? AT_ONCE : 1,
      async handle(request) {
        if (isJson) return runRemoteAgent(client, request, fieldsAsked, async () => undefined);
        const page = new TrajectoryView(screen);
        await page.begin(request.messages.at(-1)?.content ?? '');
        try {
          return await runRemoteAgent(client, request, fieldsAsked, (event) => page.tell(event));
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
      const { text, colour } = trajectoryLine(outcome.reply);
      await screen.result(screen.resultStyle(colour, `  = ${labels.id === null ? '' : `${labels.id} · `}${text}`));
    },
  });
  return printSummary(screen, tally, started);
}

/** A file of rows, or the one row of `--question`. */
async function inputOf(flags: Flags): Promise<Input> {
  const question = flags.text('question');
  if (question === null) {
    if (flags.positionals.length > 0) return openInput(flags.positionals, 'agent');
    throw new UsageError('no input', 'Try: citeward agent --question "What is 6 times 7?" --url URL');
  }
  if (flags.positionals.length > 0) throw new UsageError('--question stands in place of a file: give one of them');
  const row = new TextEncoder().encode(JSON.stringify({ question }));
  return { name: '--question', chunks: oneChunk(row), path: null, bytes: row.byteLength };
}

async function* oneChunk(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}

type OnTrajectoryEvent = (event: TrajectoryEvent) => Promise<void>;

/**
 * One trajectory, always streamed: what waits for its end alone has to be there within a proxy's patience.
 * @param flagFields fields that flags set for every row.
 */
async function runRemoteAgent(
  client: Client,
  { stream: _stream, ...request }: AgentRequest,
  flagFields: ReadonlySet<string>,
  tell: OnTrajectoryEvent,
): Promise<Outcome<AgentResponse>> {
  const opened = await client.agentStream(request);
  if (!opened.ok) return outcomeOfFailure(opened.failure, flagFields);
  for await (const event of opened.body) {
    switch (event.event) {
      case 'done':
        return { kind: 'done', reply: event.data };
      case 'error':
        return outcomeOfFailure({ kind: 'problem', status: event.data.status, problem: event.data }, flagFields);
      case 'lost':
        return outcomeOfFailure(event.failure, flagFields);
      default:
        await tell(event);
    }
  }
  throw new Error('runRemoteAgent: a stream without a last event');
}
