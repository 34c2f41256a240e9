/**
 * `npm run bench:serve`: groups of 8 rollouts through `citeward serve`, 8 groups in flight: with stored judgments,
 * recorded in a run, and with fresh judgments of a stub judge that takes 0, 50 and 2,000 ms. Prints rollouts per second,
 * latencies, the CPU time of workerd for a rollout, and its memory; then LongTraceRL's adapter beside a minimal FastAPI
 * server, and the memory over many fresh rollouts. Another reply than 200 ends the benchmark.
 *
 *     node bench/serve.ts [--seconds 8] [--rollouts 20000] [--processes 1]
 *
 * --seconds: time of a row, 1 to 600. --rollouts: those of the memory, 0 to 1,000,000. --processes: those of workerd.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureServeFiles } from '../scripts/build-serve.ts';
import { MAX_PROCESSES } from '../serve/processes.ts';
import { type Server, startServer } from '../serve/server.ts';
import { freePort, Load, type LoadedRoute, median } from './load.ts';
import { cpuOf } from './local-worker.ts';
import { LONGTRACERL_PATH, longTraceBody, NO_FASTAPI, startFastApi } from './longtracerl.ts';
import { STUB_MODEL } from './stub-judge.ts';
import { typicalRollout } from './typical-rollout.ts';

const IN_FLIGHT = 8;
const GROUP_SIZE = 8;
const WARM_UP_GROUPS = 40;
const LONGTRACERL_ROUNDS = 3;
const LONG_CONTEXT_CHARS = 100_000;
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
  // Every claim differs, so that a fresh group takes two judgments for each rollout.
  responses: Array.from({ length: GROUP_SIZE }, (_, n) => response.replaceAll('</snippet>', ` (${n + 1})</snippet>`)),
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

function residentMb(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => /^VmRSS:\s*(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return kilobytes.reduce((sum, one) => sum + Number(one), 0) / 1_024;
}

/** Microseconds of CPU time that the processes have used. */
function cpuOfAll(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
}

async function measureRow(agent: Agent, { pids, url }: Server, { name, goal, group }: Row, ms: number): Promise<void> {
  const port = Number(new URL(url).port);
  // Numbers of the warm-up are not those of the measurement, so its judgments are fresh.
  await send(
    agent,
    port,
    (n) => group(50_000 + n),
    (sent) => sent >= WARM_UP_GROUPS,
  );
  const cpu = cpuOfAll(pids);
  const until = performance.now() + ms;
  const { rollouts, ms: took_ms, latencies_ms } = await send(agent, port, group, () => performance.now() > until);
  const cells = [
    name.padEnd(22),
    `${((rollouts * 1_000) / took_ms).toFixed(0)}/s`.padStart(8),
    `${((cpuOfAll(pids) - cpu) / 1_000 / rollouts).toFixed(2)} ms`.padStart(9),
    `${percentile(latencies_ms, 0.5).toFixed(0)} ms`.padStart(9),
    `${percentile(latencies_ms, 0.99).toFixed(0)} ms`.padStart(9),
    `${residentMb(pids).toFixed(0)} MB`.padStart(8),
    `  ${goal}`,
  ];
  console.log(cells.join(''));
}

/** LongTraceRL's adapter beside a FastAPI server of its shape, in turns. */
async function measureLongTrace({ pids, url }: Server): Promise<void> {
  const fastApi = await startFastApi();
  if (fastApi === null) {
    console.log(`LongTraceRL's adapter against FastAPI: ${NO_FASTAPI}`);
    return;
  }
  const load = new Load(IN_FLIGHT);
  try {
    for (const chars of [0, LONG_CONTEXT_CHARS]) {
      const text = longTraceBody(chars);
      const body = (): string => text;
      const routes = [
        { port: Number(new URL(url).port), path: LONGTRACERL_PATH, body, pids },
        { port: fastApi.port, path: '/evaluate', body, pids: fastApi.pid === null ? [] : [fastApi.pid] },
      ];
      const [ours, theirs] = await inTurns(load, routes);
      if (ours === undefined || theirs === undefined) throw new Error('two routes are measured');
      console.log(
        `LongTraceRL's adapter, ${text.length} characters: ${ours.per_s.toFixed(0)}/s, ${ours.cpu_ms.toFixed(2)} ms; ` +
          `FastAPI ${theirs.per_s.toFixed(0)}/s, ${theirs.cpu_ms.toFixed(2)} ms; ` +
          `${(ours.per_s / theirs.per_s).toFixed(2)}x, by CPU ${(theirs.cpu_ms / ours.cpu_ms).toFixed(2)}x`,
      );
    }
  } finally {
    load.close();
    fastApi.stop();
  }
}

type Measurable = LoadedRoute & { readonly pids: readonly number[] };

/** Requests per second of each route, and the CPU time of its server for one: the medians of some rounds. */
async function inTurns(load: Load, routes: readonly Measurable[]) {
  const rounds = routes.map((route) => ({ route, per_s: [] as number[], cpu_ms: [] as number[] }));
  // The first round is the warm-up.
  for (let round = 0; round <= LONGTRACERL_ROUNDS; round++) {
    for (const { route, per_s, cpu_ms } of rounds) {
      await load.waitUntilUp(route);
      const [used, started] = [cpuOfAll(route.pids), performance.now()];
      const speed = await load.requestsPerSecond(route);
      const requests = (speed * (performance.now() - started)) / 1_000;
      if (round === 0) continue;
      per_s.push(speed);
      cpu_ms.push((cpuOfAll(route.pids) - used) / 1_000 / requests);
    }
  }
  return rounds.map(({ per_s, cpu_ms }) => ({ per_s: median(per_s), cpu_ms: median(cpu_ms) }));
}

/** Memory while fresh judgments of a run are recorded. */
async function measureMemory(agent: Agent, { pids, url }: Server, rollouts: number): Promise<void> {
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
    memory.push(`${residentMb(pids).toFixed(0)} MB`);
  }
  console.log(`memory after each quarter of ${rollouts} fresh, recorded rollouts: ${memory.join(', ')}`);
}

/** @throws RangeError if the option is no whole number of its range. */
function countOf(option: 'seconds' | 'rollouts' | 'processes', [least, most]: readonly [number, number]): number {
  const count = Number(values[option]);
  if (Number.isInteger(count) && count >= least && count <= most) return count;
  throw new RangeError(`--${option}: expected a whole number from ${least} to ${most}`);
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rollouts: { type: 'string', default: '20000' },
    processes: { type: 'string', default: '1' },
  },
});
const ms = 1_000 * countOf('seconds', [1, 600]);
const rollouts = countOf('rollouts', [0, 1_000_000]);
const processes = countOf('processes', [1, MAX_PROCESSES]);
const folder = mkdtempSync(join(tmpdir(), 'citeward-bench-'));
const judgePort = await freePort();
const judge = spawn(process.execPath, [resolve(import.meta.dirname, 'stub-judge.ts'), String(judgePort)]);
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
const backends = DELAYS_MS.map((delay_ms) => ({
  ...{ name: `stub-${delay_ms}`, kind: 'vllm', model: STUB_MODEL, slots: 256, context_tokens: 65_536 },
  base_url: `http://127.0.0.1:${judgePort}/${delay_ms}/v1`,
}));
const server = await startServer({
  ...{ files: await ensureServeFiles(), state: join(folder, 'state'), host: '127.0.0.1', port: 0, processes },
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
  for (const row of ROWS) await measureRow(agent, server, row, ms);
  await measureLongTrace(server);
  if (rollouts > 0) await measureMemory(agent, server, rollouts);
} finally {
  agent.destroy();
  judge.kill('SIGKILL');
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
}
