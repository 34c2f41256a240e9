/**
 * `npm run test:real`: runs the documented examples in the packages of trainers and tools, installed as their users do
 * (test/real). `--only NAME` chooses some; `--list` shows what a first run downloads; `--record` writes the results to
 * test/real/report.json and docs/reference/compat.md; `--update` first raises the pins to the newest versions. Exit
 * code 1: an example failed.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { pageWith } from '../bench/hacks/page.ts';
import { freePort, startLocalWorker } from './local-worker.ts';
import { ensurePython, pinnedIn } from './python-environment.ts';
import { ENTRIES, type Entry, environmentOf, pinnedVersion, REAL } from './real/entries.ts';
import { REPORT, type Report, readReport, realList } from './real/report.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '..');
const PAGE = resolve(ROOT, 'docs/reference/compat.md');
const START_MS = 60_000;
const RUN_MS = 2_400_000;
const LINES_SHOWN = 20;
const COLUMNS_SHOWN = 240;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** A judge that cannot be reached: nothing listens on port 9. */
const GONE = { name: 'gone', kind: 'vllm', base_url: 'http://127.0.0.1:9/v1', model: 'none', slots: 8 };

const say = (text: string): void => console.error(text);

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    update: { type: 'boolean', default: false },
  },
});
const unknown = values.only.filter((name) => !ENTRIES.some((entry) => entry.name === name));
if (unknown.length > 0) {
  say(`--only: no entry ${unknown.join(', ')}; there are ${ENTRIES.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const chosen = values.only.length === 0 ? ENTRIES : ENTRIES.filter(({ name }) => values.only.includes(name));
if (values.update) for (const entry of chosen) await raisePins(entry);
for (const entry of chosen) say(`${entry.name.padEnd(16)} ${entry.package} ${pinnedVersion(entry)}: ${entry.download}`);
if (!values.list) process.exitCode = await runEntries(chosen);

async function runEntries(entries: readonly Entry[]): Promise<number> {
  const BACKENDS = JSON.stringify({ backends: [{ ...GONE, context_tokens: 32_768 }], default_judge: GONE.name });
  const start = (variables: Readonly<Record<string, string>>) =>
    startLocalWorker({ variables: { ALLOW_ANONYMOUS: 'true', ...variables }, deadline_ms: START_MS });
  // An entry that compares expressions starts the sandbox itself, on this port.
  const [port, classifierPort, judgePort] = [await freePort(), await freePort(), await freePort()];
  const sandbox = { base_url: `http://127.0.0.1:${port}`, runtime: 'test-real', slots: 4 };
  // So does an entry that serves a classifier, or a language model.
  const classifier = {
    ...{ name: 'tiny-classifier', kind: 'classifier', model: 'tiny', slots: 64, window_tokens: 256 },
    ...{ base_url: `http://127.0.0.1:${classifierPort}/classify`, labels: ['entailment', 'neutral', 'contradiction'] },
  };
  const judge = {
    ...{ name: 'tiny-judge', kind: 'vllm', model: 'tiny', slots: 64, context_tokens: 16_384, timeout_s: 600 },
    base_url: `http://127.0.0.1:${judgePort}/v1`,
  };
  const STARTED_LATER = JSON.stringify({ backends: [classifier, judge], default_judge: null, sandbox });
  const [up, down] = await Promise.all([
    start({ ALLOW_LEXICAL_JUDGE: 'true', WEBHOOK_ALLOW_LOOPBACK: 'true', BACKENDS: STARTED_LATER }),
    start({ BACKENDS }),
  ]);
  const found: Record<string, Report[string]> = {};
  try {
    for (const entry of entries) {
      const urls = { CITEWARD_URL: up.url, CITEWARD_DOWN_URL: down.url };
      const ports = {
        CITEWARD_SANDBOX_PORT: String(port),
        CITEWARD_CLASSIFIER_PORT: String(classifierPort),
        CITEWARD_JUDGE_PORT: String(judgePort),
      };
      const ended = await runEntry(entry, { ...urls, ...ports });
      if (ended.failed) say(`FAILED ${entry.name}\n${ended.output}`);
      else found[entry.name] = ended.row;
      if (!ended.failed) console.log(`ok     ${entry.name}  ${ended.row.version}  ${ended.row.result}`);
    }
  } finally {
    await Promise.all([up.stop(), down.stop()]);
  }
  const passed = Object.keys(found).length;
  console.log(`${passed} passed, ${entries.length - passed} failed`);
  if (values.record) record({ ...readReport(), ...found });
  return passed === entries.length ? 0 : 1;
}

type Ended =
  | { readonly failed: false; readonly row: Report[string] }
  | { readonly failed: true; readonly output: string };

async function runEntry(entry: Entry, variables: Readonly<Record<string, string>>): Promise<Ended> {
  // Some packages write into the folder that they run in.
  const folder = await mkdtemp(join(tmpdir(), 'citeward-real-'));
  try {
    const python = await ensurePython(environmentOf(entry), say);
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CITEWARD_'));
    const env = { ...Object.fromEntries(inherited), ...variables, PYTHONPATH: REAL, PYTHONDONTWRITEBYTECODE: '1' };
    const given = { cwd: folder, env, timeout: RUN_MS, maxBuffer: MAX_OUTPUT_BYTES };
    const { stdout } = await run(python, [join(REAL, entry.name, 'run.py')], given);
    const { stdout: version } = await run(python, ['-c', 'import platform; print(platform.python_version())']);
    const result = stdout.trim().split('\n').at(-1);
    if (result === undefined || result === '') throw new Error('run.py says nothing of what it saw');
    const date = new Date().toISOString().slice(0, 10);
    const row = { package: entry.package, version: pinnedVersion(entry), python: version.trim(), date, result };
    return { failed: false, row };
  } catch (error) {
    const part = (name: 'stdout' | 'stderr') =>
      error instanceof Error && name in error ? String(Reflect.get(error, name)) : '';
    return { failed: true, output: lastLines(`${String(error)}\n${part('stdout')}\n${part('stderr')}`) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Raises each pin of an entry to the newest version that pip offers. */
async function raisePins(entry: Entry): Promise<void> {
  for (const path of pinnedIn(environmentOf(entry))) await raisePinsOf(path, entry);
}

async function raisePinsOf(path: string, entry: Entry): Promise<void> {
  const lines = readFileSync(path, 'utf8').split('\n');
  const raised = lines.map(async (line) => {
    // The options of a package stay. A held pin is the newest that another package of the file accepts.
    const [, name, options = ''] = /^([\w.-]+(?:\[[\w,]+\])?)==\S+(.*)$/.exec(line) ?? [];
    if (name === undefined || options.includes('# held')) return line;
    const asked = ['-m', 'pip', 'index', 'versions', ...(entry.pipOptions ?? []), name.replace(/\[.*/, '')];
    const { stdout } = await run('python3', asked);
    const [, newest] = /\(([^)]+)\)/.exec(stdout) ?? [];
    return newest === undefined ? line : `${name}==${newest}${options}`;
  });
  writeFileSync(path, (await Promise.all(raised)).join('\n'));
}

/** The end of an output: a framework's traceback can have thousands of lines. */
function lastLines(text: string): string {
  const cut = text.trim().split('\n').slice(-LINES_SHOWN);
  return cut.map((line) => line.slice(0, COLUMNS_SHOWN)).join('\n');
}

function record(report: Report): void {
  writeFileSync(REPORT, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8'), { real: realList(report) }));
}
