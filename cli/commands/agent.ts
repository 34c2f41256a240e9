/** `citeward agent`: questions in, trajectories of a policy with tools out, shown while they go on. */
import { agentRequestSchema } from '../../src/wire/agent.ts';
import { AGENT_FLAGS, agentFieldsAsked, readAgentAsked, withAgentAsked } from '../agent/asked.ts';
import { TrajectoryPage } from '../agent/page.ts';
import { runRemoteAgent } from '../agent/service.ts';
import { AgentTally, trajectoryLine } from '../agent/tally.ts';
import type { Flags } from '../arguments/flags.ts';
import { type Command, UsageError } from '../command.ts';
import { type Input, openInput } from '../input/open-input.ts';
import { sayEnd } from '../output/end.ts';
import { Progress } from '../output/progress.ts';
import { Screen } from '../output/screen.ts';
import { CONCURRENCY_RANGE, connect, REMOTE_FLAGS } from '../remote/connect.ts';
import { runRows } from '../run-rows.ts';

export const agentCommand: Command = {
  name: 'agent',
  summary: 'Let a policy with a code interpreter work: its turns as they come, and its reward.',
  usage: [
    'agent --question TEXT --url URL [flags]',
    'agent FILE.jsonl --url URL [flags]',
    'agent - --url URL [flags]          (rows from standard input)',
  ],
  flags: [
    ...AGENT_FLAGS,
    { name: 'json', kind: 'switch', help: 'One JSON result a line, with its line and id, once it is whole.' },
    ...REMOTE_FLAGS.map((flag) =>
      flag.name === 'url'
        ? { ...flag, help: 'The Worker, which has the generator and the sandbox. Required.' }
        : flag.name === 'concurrency'
          ? { ...flag, help: 'Trajectories at a time, with --json (default 4).' }
          : flag,
    ),
  ],
  details: [
    'A row holds the fields of POST /v1/agent, and if you like id and note; question stands for messages that are one',
    'question. Flags win over a row. Fields about a response that is there already are not read.',
    'Trajectories are scored where there is a reference, or tests in the row.',
    'Exit code: 0 all trajectories whole (and scored), 1 some lines bad, broken off or not scored, 2 wrong command line.',
  ],
  run,
};

/** Each holds a slot of the generator for minutes. */
const AT_ONCE = 4;

async function run(flags: Flags): Promise<number> {
  const asked = await readAgentAsked(flags);
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
  const fieldsAsked = agentFieldsAsked(asked);

  const tally = new AgentTally();
  const started = performance.now();
  await runRows({
    input,
    schema: agentRequestSchema,
    prepare: (fields) => withAgentAsked(fields, asked),
    service: {
      notices: [],
      concurrency: isJson ? AT_ONCE : 1,
      async handle(request) {
        if (isJson) return runRemoteAgent(client, request, fieldsAsked, async () => undefined);
        const page = new TrajectoryPage(screen);
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
  return sayEnd(screen, tally, started);
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
