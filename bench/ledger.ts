/**
 * `npm run bench:ledger`: the ledger of runs in the built bundle under workerd: recording against scoring alone, the
 * bytes and rows that a rollout takes before and after it is sealed, the time of a run page, and the speed of export and
 * replay. Times are CPU times of the server process (Linux only), because other load on the machine hardly changes them.
 *
 *     npm run bench:ledger                  # up to 10,000 steps of 8 rollouts
 *     npm run bench:ledger -- 1000000       # only a run of a million rollouts: records, seals, reads and deletes it
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { runImportReportSchema } from '../src/runs/import-run.ts';
import { runDetailSchema } from '../src/wire/runs.ts';
import { ageLedgers, ledgerState } from '../test/slow/object-files.ts';
import { syntheticRunLines } from '../test/unit/runs/synthetic-rows.ts';
import { Load, median, noiseOf } from './load.ts';
import { cpuOf, type LocalWorker, type Server, startWorker } from './local-worker.ts';
import { typicalRollout } from './typical-rollout.ts';

const ROUNDS = 7;
const CONNECTIONS = 8;
const GROUP_SIZE = 8;
const ROLLOUTS_PER_STEP = 8;
const RUN_STEPS = [1, 100, 10_000] as const;
/** Rollouts per step of the large run. */
const LARGE_STEP = 1_024;
/** Rollouts that are sent again, so that a recording sets the alarm. */
const REPEATED = 8;
const PAGE_READS = 9;
const RECIPE = 'refiner-gpt54-instance-rubric';
const RUN = 'bench';
const bindings = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' };

type Cost = { readonly wall_ms: number; readonly cpu_ms: number };

/** Measures one piece of work by the clock and by the CPU time of the server. */
async function costOf(server: Server, work: () => Promise<unknown>): Promise<Cost> {
  const [cpu, started] = [cpuOf(server.pid), performance.now()];
  await work();
  return { wall_ms: performance.now() - started, cpu_ms: (cpuOf(server.pid) - cpu) / 1000 };
}

/** Recording: CPU time of a group of 8 in rounds that alternate with the same group unrecorded. */
async function measureRecording(server: Server): Promise<{ readonly rollouts: number }> {
  const { question, response, tool_output, positive_rubrics, negative_rubrics } = typicalRollout();
  const responses = Array.from({ length: GROUP_SIZE }, (_, n) =>
    response.replace('In order of time', `In order of time (${n + 1})`),
  );
  const group = { recipe: RECIPE, question, tool_output, responses, positive_rubrics, negative_rubrics };
  const plainText = JSON.stringify(group);
  let sent = 0;
  const route = { port: server.port, path: '/v1/groups' };
  const plain = { ...route, body: () => plainText };
  const recorded = {
    ...route,
    body: () => {
      const n = sent++;
      return JSON.stringify({ ...group, run: { id: RUN, step: Math.floor(n / 32), group: n } });
    },
  };
  const load = new Load(CONNECTIONS);
  await load.waitUntilUp(plain);
  const measured = {
    plain: { per_s: [] as number[], cpu_ms: [] as number[] },
    recorded: { per_s: [] as number[], cpu_ms: [] as number[] },
  };
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, one] of [
      ['plain', plain],
      ['recorded', recorded],
    ] as const) {
      let perSecond = 0;
      const { cpu_ms, wall_ms } = await costOf(server, async () => {
        perSecond = await load.requestsPerSecond(one);
      });
      // The first round warms up.
      if (round < 0) continue;
      measured[name].per_s.push(perSecond);
      measured[name].cpu_ms.push(cpu_ms / ((perSecond * wall_ms) / 1000));
    }
  }
  load.close();
  for (const [name, { per_s, cpu_ms }] of Object.entries(measured)) {
    console.log(
      `group of 8, ${name.padEnd(9)} ${median(per_s).toFixed(0)} groups/s (${noiseOf(per_s)}), ${median(cpu_ms).toFixed(2)} ms of CPU`,
    );
  }
  const ratio = median(measured.recorded.per_s) / median(measured.plain.per_s);
  const cpu = median(measured.plain.cpu_ms) / median(measured.recorded.cpu_ms);
  console.log(`recorded against unrecorded ${ratio.toFixed(2)}x, by CPU ${cpu.toFixed(2)}x; goal 0.6x`);
  return { rollouts: sent * GROUP_SIZE };
}

/** Seals everything: the files can be read and changed only while the server is stopped, so in rounds. */
async function seal(folder: string, state: string, runs: readonly string[], perStep: number): Promise<LocalWorker> {
  for (let round = 1; ; round++) {
    const { inline } = ledgerState(state);
    ageLedgers(state);
    const server = await startWorker(folder, { bindings, state });
    if (inline === 0) return server;
    for (const run of runs) await importRun(server, run, REPEATED, perStep);
    await new Promise((resolve) => setTimeout(resolve, 2_000 * round));
    await server.stop();
  }
}

/** Prints bytes and rows, with those of indexes, that the ledger takes for each rollout. */
function printSizes(state: string, rollouts: number): void {
  const sum = { bytes: 0, rows: 0 };
  for (const path of filesOf(state)) {
    if (!path.endsWith('.sqlite') || path.includes('metadata')) continue;
    const database = new DatabaseSync(path);
    const tables = database.prepare('SELECT name, tbl_name, type FROM sqlite_master WHERE rootpage > 0').all();
    for (const { name, tbl_name: table, type } of tables) {
      if (!LEDGER_TABLES.test(String(table))) continue;
      const isCopy =
        type === 'index' && /^sqlite_autoindex/.test(String(name)) && isWithoutRowid(database, String(table));
      if (isCopy) continue;
      sum.rows += Number(database.prepare(`SELECT count(*) AS n FROM "${table}"`).get()?.['n']);
    }
    const isLedger = tables.some(({ tbl_name: table }) => LEDGER_TABLES.test(String(table)));
    if (isLedger) {
      const pages = ['page_count', 'freelist_count'].map((name) =>
        Number(database.prepare(`PRAGMA ${name}`).get()?.[name]),
      );
      sum.bytes += ((pages[0] ?? 0) - (pages[1] ?? 0)) * 4096;
    }
    database.close();
  }
  const objects = filesOf(join(state, 'r2')).filter((path) => path.includes('blobs'));
  const bytes = objects.reduce((total, path) => total + statSync(path).size, 0);
  console.log(
    `per rollout: ${(sum.bytes / rollouts).toFixed(0)} bytes and ${(sum.rows / rollouts).toFixed(2)} rows of SQLite, ` +
      `${(bytes / rollouts).toFixed(0)} bytes and ${(objects.length / rollouts).toFixed(3)} objects of R2`,
  );
}

const LEDGER_TABLES = /^(records_v1|figures_v1|recipes_v1|segments_v1)$/;

function isWithoutRowid(database: DatabaseSync, table: string): boolean {
  const sql = database.prepare('SELECT sql FROM sqlite_master WHERE name = ?').get(table)?.['sql'];
  return String(sql).includes('WITHOUT ROWID');
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

async function importRun(server: Server, run: string, rollouts: number, perStep: number): Promise<void> {
  const lines = Readable.toWeb(Readable.from(syntheticRunLines({ run, rollouts, perStep })));
  const init = Object.assign<object, RequestInit>(
    { method: 'POST', headers: { 'content-type': 'application/jsonl' }, body: lines, duplex: 'half' },
    {},
  );
  const reply = await fetch(`http://127.0.0.1:${server.port}/v1/runs/${run}/import`, init);
  const { imported, already_there, complete } = runImportReportSchema.parse(await reply.json());
  if (!complete || imported + already_there !== rollouts) throw new Error(`imported only ${imported} rollouts`);
}

/** Reads a reply to its end. @returns its last line. */
async function read(server: Server, path: string, body?: object): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, body === undefined ? {} : init);
  if (!reply.ok || reply.body === null) throw new Error(`${path} answered ${reply.status}`);
  let tail = '';
  for await (const text of reply.body.pipeThrough(new TextDecoderStream())) tail = (tail + text).slice(-100_000);
  return tail.trimEnd().split('\n').at(-1) ?? '';
}

/** Reads all pages of a run. */
async function readSteps(server: Server, run: string): Promise<void> {
  for (let from = ''; ; ) {
    const reply = await fetch(`http://127.0.0.1:${server.port}/v1/runs/${run}?limit=1000${from}`);
    const { next_step } = runDetailSchema.parse(await reply.json());
    if (next_step === null) return;
    from = `&from_step=${next_step}`;
  }
}

async function measurePages(server: Server): Promise<void> {
  for (const steps of RUN_STEPS) {
    const run = `steps-${steps}`;
    const rollouts = steps * ROLLOUTS_PER_STEP;
    const { cpu_ms } = await costOf(server, () => importRun(server, run, rollouts, ROLLOUTS_PER_STEP));
    const first = await costOf(server, () => readSteps(server, run));
    const pages: Cost[] = [];
    for (let n = 0; n < PAGE_READS; n++) pages.push(await costOf(server, () => readSteps(server, run)));
    const [wall, cpu] = [
      median(pages.map((page) => page.wall_ms)),
      pages.reduce((sum, page) => sum + page.cpu_ms, 0) / PAGE_READS,
    ];
    console.log(
      `run of ${steps} steps (${rollouts} rollouts): import ${((cpu_ms * 1000) / rollouts).toFixed(0)} µs of CPU per rollout; ` +
        `page ${wall.toFixed(1)} ms, ${cpu.toFixed(1)} ms of CPU; the first after recording ${first.wall_ms.toFixed(0)} ms`,
    );
  }
}

async function measureReading(server: Server, run: string, rollouts: number): Promise<void> {
  for (const [name, path, body] of [
    ['export', `/v1/runs/${run}/export`, undefined],
    ['replay', `/v1/runs/${run}/replay`, { recipe: { base: RECIPE, citation_weight: 0.5 } }],
  ] as const) {
    const { wall_ms, cpu_ms } = await costOf(server, async () => {
      const last = await read(server, path, body);
      if (!last.includes(`"rollouts":${rollouts}`)) throw new Error(`${name} ended with ${last.slice(0, 200)}`);
    });
    console.log(
      `${name} of ${rollouts} rollouts: ${((rollouts * 1000) / wall_ms).toFixed(0)} rollouts/s, ${((cpu_ms * 1000) / rollouts).toFixed(0)} µs of CPU per rollout`,
    );
  }
}

/** A run of many rollouts from recording to deletion, with the highest memory of the server on the way. */
async function measureLarge(folder: string, rollouts: number): Promise<void> {
  const state = join(folder, 'large');
  const run = 'large';
  let server = await startWorker(folder, { bindings, state });
  const recorded = await costOf(server, () => importRun(server, run, rollouts, LARGE_STEP));
  console.log(
    `import of ${rollouts} rollouts: ${((rollouts * 1000) / recorded.wall_ms).toFixed(0)} rollouts/s, ` +
      `${((recorded.cpu_ms * 1000) / rollouts).toFixed(0)} µs of CPU per rollout, peak ${peakMb(server).toFixed(0)} MB`,
  );
  await server.stop();
  printSizes(state, rollouts);
  server = await seal(folder, state, [run], LARGE_STEP);
  const first = await costOf(server, () => readSteps(server, run));
  const page = await costOf(server, () => readSteps(server, run));
  console.log(
    `page of ${Math.ceil(rollouts / LARGE_STEP)} steps: the first ${first.wall_ms.toFixed(0)} ms, ` +
      `the next ${page.wall_ms.toFixed(0)} ms, ${page.cpu_ms.toFixed(0)} ms of CPU`,
  );
  await measureReading(server, run, rollouts);
  console.log(`peak ${peakMb(server).toFixed(0)} MB`);
  await server.stop();
  printSizes(state, rollouts);
  server = await startWorker(folder, { bindings, state });
  const deleted = await costOf(server, async () => {
    const reply = await fetch(`http://127.0.0.1:${server.port}/v1/runs/${run}`, { method: 'DELETE' });
    if (!(await reply.text()).includes('"complete":true')) throw new Error('the run was not deleted');
  });
  console.log(`deletion ${deleted.wall_ms.toFixed(0)} ms`);
  await server.stop();
  printSizes(state, rollouts);
}

function peakMb({ pid }: Server): number {
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

async function measureUsual(folder: string): Promise<void> {
  const state = join(folder, 'state');
  const worker = await startWorker(folder, { bindings, state });
  const { rollouts } = await measureRecording(worker);
  await worker.stop();
  printSizes(state, rollouts);
  const imported = join(folder, 'imported');
  const reader = await startWorker(folder, { bindings, state: imported });
  await measurePages(reader);
  const steps = RUN_STEPS[2];
  const run = `steps-${steps}`;
  await measureReading(reader, run, steps * ROLLOUTS_PER_STEP);
  await reader.stop();
  const runs = RUN_STEPS.map((one) => `steps-${one}`);
  const sealed = await seal(folder, imported, runs, ROLLOUTS_PER_STEP);
  console.log('the same run, sealed:');
  await measureReading(sealed, run, steps * ROLLOUTS_PER_STEP);
  await sealed.stop();
}

const folder = mkdtempSync(join(tmpdir(), 'citeward-bench-'));
const [rollouts] = process.argv.slice(2);
try {
  if (rollouts === undefined) await measureUsual(folder);
  else await measureLarge(folder, Number(rollouts));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
