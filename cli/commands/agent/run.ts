/** `citeward agent`: runs a policy with a code interpreter and shows its turns while they stream. */

import type { RowClient } from '../../../hosts/memory/local-client.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import { type AgentRequest, agentRequestSchema } from '../../../src/wire/agent.ts';
import type { AgentResponse } from '../../../src/wire/agent-reply.ts';
import type { RowLine } from '../../../src/wire/rows/row-line.ts';
import type { Command } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import type { RowInput } from '../../shared/input.ts';
import { Progress } from '../../shared/progress.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { openRowHost } from '../../shared/row-host.ts';
import { type Outcome, runRows } from '../../shared/run-rows.ts';
import { Screen } from '../../shared/screen.ts';
import { CONCURRENCY_RANGE } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { agentFieldsSet, agentSyntax, applyAgentOptions, readAgentOptions } from './options.ts';
import { AgentSummary, type TrajectoryEvent, TrajectoryView, trajectoryLine } from './render.ts';

export const agentCommand: Command = { ...agentSyntax, run };

/** A trajectory holds a slot of the generator for minutes, so few run at the same time. */
const DEFAULT_CONCURRENCY = 4;

async function run(flags: Flags): Promise<number> {
  const options = await readAgentOptions(flags);
  const isJson = flags.isOn('json');
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  if (concurrency !== null && !isJson) {
    throw new UsageError('--concurrency needs --json', 'Without --json the rows are shown one after the other.');
  }
  if (flags.text('url') === null && flags.text('backends') === null) {
    throw new UsageError(
      'agent needs a Worker: --url URL, or a generator and a sandbox here: --backends FILE',
      'To start a Worker on this machine, see docs/guides/agent.md',
    );
  }
  const screen = new Screen(flags);
  const input = await inputOf(flags);
  const progress = new Progress(screen.errors, isJson ? input.bytes : null);
  screen.show(progress);
  const { client } = await openRowHost(flags, (text) => progress.remark(text), null);
  const flagFields = agentFieldsSet(options);

  const summary = new AgentSummary();
  const started = performance.now();
  await runRows({
    input,
    schema: agentRequestSchema,
    prepare: (fields) => applyAgentOptions(fields, options),
    handler: {
      notices: [],
      concurrency: isJson ? DEFAULT_CONCURRENCY : 1,
      async handle(request) {
        if (isJson) return runAgent(client, request, flagFields, async () => undefined);
        const view = new TrajectoryView(screen);
        await view.begin(request.messages.at(-1)?.content ?? '');
        try {
          return await runAgent(client, request, flagFields, (event) => view.show(event));
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
      const { text, colour } = trajectoryLine(outcome.reply);
      await screen.result(
        screen.resultStyle(colour, `  = ${labels.id === null ? '' : `${plainLine(String(labels.id))} · `}${text}`),
      );
    },
  });
  return summary.print(screen, started);
}

/** A file of rows, or the row of `--question`. @throws UsageError */
async function inputOf(flags: Flags): Promise<Omit<RowInput, 'chunks'>> {
  const question = flags.text('question');
  if (question === null) {
    return openRows(flags, 'agent --question "What is 6 times 7?" --url URL');
  }
  if (flags.positionals.length > 0) throw new UsageError('--question and a file of rows', 'Give one of them.');
  const content = { ok: true, value: JSON.stringify({ question }) } as const;
  return {
    name: '--question',
    unit: 'line',
    path: null,
    bytes: null,
    lines: oneLine({ number: 1, bytesRead: 0, content }),
  };
}

async function* oneLine(line: RowLine): AsyncGenerator<RowLine> {
  yield line;
}

/**
 * Runs one trajectory. It is always streamed, as a proxy may cut a connection that is silent for minutes.
 * @param flagFields the fields that flags set in every row.
 */
async function runAgent(
  client: Pick<RowClient, 'agentStream'>,
  { stream: _stream, ...request }: AgentRequest,
  flagFields: ReadonlySet<string>,
  onEvent: (event: TrajectoryEvent) => Promise<void>,
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
        await onEvent(event);
    }
  }
  throw new Error('runAgent: the stream has no last event');
}
