/**
 * `npm run bench:serve`: groups of 8 rollouts through `citeward serve`, 8 groups in flight: with stored judgments,
 * recorded in a run, and with fresh judgments of a stub judge that takes 0, 50 and 2,000 ms. Prints rollouts per second,
 * latencies, the CPU time of workerd for a rollout, and its memory. Another reply than 200 ends the benchmark.
 *
 *     node bench/serve.ts [--rollouts 20000]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureServeFiles } from '../scripts/build-serve.ts';
import { type Server, startServer } from '../serve/server.ts';
import { freePort } from './load.ts';
import { cpuOf } from './local-worker.ts';
import { STUB_MODEL } from './stub-judge.ts';
import { typicalRollout } from './typical-rollout.ts';

const IN_FLIGHT = 8;
const GROUP_SIZE = 8;
/** Time of a row after its warm-up. */
const ROW_MS = 8_000;
const WARM_UP_GROUPS = 40;
const DELAYS_MS = [0, 50, 2_000] as const;
const RECIPE = 'refiner-gpt54-instance-rubric';

type Group = Readonly<Record<string, unknown>>;

/** A row of the table: requests that follow from their number. */
type Row = { readonly name: string; readonly goal: string; readonly group: (n: number) => Group };

type Measured = { readonly rollouts: number; readonly ms: number; readonly latencies_ms: readonly number[] };

const { question, response, tool_output, positive_rubrics, negative_rubrics } = typicalRollout();
const GROUP: Group = {
  recipe: RECIPE,
  question,
  tool_output,
  responses: Array.from({ length: GROUP_SIZE }, (_, n) =>
    response.replace('In order of time', `In order of time (${n + 1})`),
  ),
  positive_rubrics,
  negative_rubrics,
};

/** The judges have one model, so a judgment of one is stored for all: each has replicates of its own. */
const judged = (delay_ms: number, n: number): Group => ({
  ...GROUP,
  judge: `stub-${delay_ms}`,
  replicate: 100 * delay_ms + n,
});
const recorded = (group: Group, run: string, n: number): Group => ({
  ...group,
  run: { id: run, step: Math.floor(n / 32), group: n },
});

const ROWS: readonly Row[] = [
  { name: 'stored', goal: '2,500/s', group: () => GROUP },
  { name: 'stored, recorded', goal: '60 % of it', group: (n) => recorded(GROUP, 'stored', n) },
  ...DELAYS_MS.map((delay_ms) => ({
    name: `fresh, judge ${delay_ms} ms`,
    goal: delay_ms === 0 ? '500/s, p99 250 ms' : '',
    group: (n: number) => judged(delay_ms, n),
  })),
];

/** Sends groups, IN_FLIGHT at a time, until `isOver` says so of the number sent. @throws Error for a reply that is no 200. */
async function send(agent: Agent, port: number, group: (n: number) => Group, isOver: (sent: number) => boolean) {
  const latencies_ms: number[] = [];
  const started = performance.now();
  let sent = 0;
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (!isOver(sent)) {
        const body = JSON.stringify(group(sent++));
        const began = performance.now();
        await post(agent, port, body);
        latencies_ms.push(performance.now() - began);
      }
    }),
  );
  const measured: Measured = { rollouts: sent * GROUP_SIZE, ms: performance.now() - started, latencies_ms };
  return measured;
}

function post(agent: Agent, port: number, body: string): Promise<void> {
  return new Promise((done, fail) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const options = { host: '127.0.0.1', port, path: '/v1/groups', method: 'POST', agent, headers };
    const outgoing = request(options, (reply) => {
      if (reply.statusCode === 200) reply.resume();
      else reply.setEncoding('utf8').on('data', (text: string) => fail(new Error(`${reply.statusCode}: ${text}`)));
      reply.on('end', done).on('error', fail);
    });
    outgoing.on('error', fail).end(body);
  });
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s*(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

async function measureRow(agent: Agent, { pid, url }: Server, { name, goal, group }: Row): Promise<void> {
  const port = Number(new URL(url).port);
  // Numbers of the warm-up are not those of the measurement, so its judgments are fresh.
  await send(
    agent,
    port,
    (n) => group(50_000 + n),
    (sent) => sent >= WARM_UP_GROUPS,
  );
  const cpu = cpuOf(pid);
  const until = performance.now() + ROW_MS;
  const { rollouts, ms, latencies_ms } = await send(agent, port, group, () => performance.now() > until);
  const cells = [
    name.padEnd(22),
    `${((rollouts * 1_000) / ms).toFixed(0)}/s`.padStart(8),
    `${((cpuOf(pid) - cpu) / 1_000 / rollouts).toFixed(2)} ms`.padStart(9),
    `${percentile(latencies_ms, 0.5).toFixed(0)} ms`.padStart(9),
    `${percentile(latencies_ms, 0.99).toFixed(0)} ms`.padStart(9),
    `${residentMb(pid).toFixed(0)} MB`.padStart(8),
    `  ${goal}`,
  ];
  console.log(cells.join(''));
}

/** Memory while fresh judgments of a run are recorded. */
async function measureMemory(agent: Agent, { pid, url }: Server, rollouts: number): Promise<void> {
  const port = Number(new URL(url).port);
  const quarter = Math.ceil(rollouts / 4 / GROUP_SIZE);
  const memory: string[] = [];
  for (let part = 0; part < 4; part++) {
    const number = (n: number): number => 700_000 + part * quarter + n;
    await send(
      agent,
      port,
      (n) => recorded(judged(0, number(n)), 'memory', number(n)),
      (sent) => sent >= quarter,
    );
    memory.push(`${residentMb(pid).toFixed(0)} MB`);
  }
  console.log(`memory after each quarter of ${rollouts} fresh, recorded rollouts: ${memory.join(', ')}`);
}

const { values } = parseArgs({ options: { rollouts: { type: 'string', default: '20000' } } });
const folder = mkdtempSync(join(tmpdir(), 'citeward-bench-'));
const judgePort = await freePort();
const judge = spawn(process.execPath, [resolve(import.meta.dirname, 'stub-judge.ts'), String(judgePort)]);
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
const backends = DELAYS_MS.map((delay_ms) => ({
  ...{ name: `stub-${delay_ms}`, kind: 'vllm', model: STUB_MODEL, slots: 256, context_tokens: 65_536 },
  base_url: `http://127.0.0.1:${judgePort}/${delay_ms}/v1`,
}));
const server = await startServer({
  ...{ files: await ensureServeFiles(), state: join(folder, 'state'), host: '127.0.0.1', port: 0 },
  settings: {
    ALLOW_ANONYMOUS: 'true',
    ALLOW_LEXICAL_JUDGE: 'true',
    BACKENDS: JSON.stringify({ backends, default_judge: null }),
  },
  onLog: ({ level, message }) => {
    if (level === 'error') console.error(message);
  },
});
try {
  console.log(`${'groups of 8'.padEnd(22)}rollouts     CPU      p50      p99  memory  goal`);
  for (const row of ROWS) await measureRow(agent, server, row);
  await measureMemory(agent, server, Number(values.rollouts));
} finally {
  agent.destroy();
  judge.kill('SIGKILL');
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
}
