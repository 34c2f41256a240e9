/**
 * `node scripts/suites.ts fast|slow|total`: runs test suites, some side by side, prints the time of each, and ends with
 * the line `N passed, N failed`. `total` runs nothing and adds up the results of the last fast and slow runs.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import * as z from 'zod';

const root = resolve(import.meta.dirname, '..');
const resultsDirectory = resolve(root, '.test-results');

type Suite = {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** True if the command is vitest, which reports counts as JSON. */
  readonly counted: boolean;
  /**
   * Set if it runs beside those that follow. Its output comes at the end. `filler` has a low priority: it takes the
   * processor while the processes of the others wait for one another.
   */
  readonly beside?: 'equal' | 'filler';
};

function vitest(name: string, ...filters: readonly string[]): Suite {
  return { name, command: ['vitest', 'run', '--project', name, ...filters], counted: true };
}

/** Before each suite of vitest, whose projects would build it side by side. */
const DASHBOARD: Suite = { name: 'dashboard', command: ['node', 'scripts/build-dashboard.ts'], counted: false };

const SUITES: Record<'fast' | 'slow', readonly Suite[]> = {
  fast: [
    // These compute and hardly wait.
    { name: 'typecheck', command: ['node', 'scripts/typecheck.ts'], counted: false, beside: 'filler' },
    { name: 'lint', command: ['biome', 'check', '--error-on-warnings'], counted: false, beside: 'equal' },
    DASHBOARD,
    { ...vitest('unit'), beside: 'filler' },
    { ...vitest('functions', '--project', 'functions-alone'), beside: 'equal' },
    { name: 'build', command: ['node', 'scripts/bundle-size.ts'], counted: false },
    vitest('e2e'),
  ],
  slow: [
    DASHBOARD,
    // On one processor, beside the longest suite, which runs a file at a time.
    { ...vitest('slow-linear'), beside: 'filler' },
    { ...vitest('slow-pages'), beside: 'equal' },
    vitest('slow'),
    vitest('slow-functions'),
    { name: 'vendors-install', command: ['node', 'scripts/vendors.ts'], counted: false },
    vitest('vendors'),
    { name: 'llm-build', command: ['node', 'scripts/llm/build-server.ts'], counted: false },
    vitest('llm'),
  ],
};

type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

const testSchema = z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) });
/** Vitest's report, as far as it is read here; `testResults` has one entry per file. */
const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z
    .array(
      z.object({
        name: z.string(),
        status: z.string(),
        message: z.string().optional(),
        assertionResults: z.array(testSchema),
      }),
    )
    .default([]),
});

/** What a suite came to: its counts, and each failure in one line. */
type Outcome = Counts & { readonly failures: readonly string[]; readonly repeated: readonly string[] };

function readOutcome(file: string): Outcome | null {
  if (!existsSync(file)) return null;
  const report = reportSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  // A file that fails in its setup runs no test: vitest counts its tests as skipped, and none as failed.
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [
      ...tests
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages }) => `${fullName}: ${firstLine(failureMessages[0])}`),
      ...brokenFiles.map(({ name, message }) => `${relative(root, name)}: ${firstLine(message)}`),
    ],
    // These passed only when they were repeated (vitest.config.ts).
    repeated: tests
      .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
      .map(({ fullName, failureMessages }) => `${fullName}: ${firstLine(failureMessages[0])}`),
  };
}

function firstLine(text = ''): string {
  return stripVTControlCharacters(text).split('\n', 1)[0]?.slice(0, 300) ?? '';
}

/**
 * Errors that workerd logs for faults which tests cause on purpose. They go to a file, because on the screen they look
 * like failures.
 */
const WORKERD_NOISE = /^uncaught exception; (source|exception|stack) = /u;

const FILLER_PRIORITY = 10;

/** Runs a program and returns its exit status; `null` if a signal ended it. @param print takes its output; absent = shown. */
async function runProgram(
  program: string,
  args: readonly string[],
  isFiller: boolean,
  print?: (text: string) => void,
): Promise<number | null> {
  const child = spawn(resolve(root, 'node_modules/.bin', program), args, {
    cwd: root,
    stdio: ['inherit', print === undefined ? 'inherit' : 'pipe', 'pipe'],
  });
  if (isFiller && child.pid !== undefined) setPriority(child.pid, FILLER_PRIORITY);
  const ended = new Promise<number | null>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done(code));
  });
  child.stdout?.setEncoding('utf8').on('data', (text: string) => print?.(text));
  if (child.stderr === null) throw new Error('runProgram: standard error is a pipe');
  for await (const line of createInterface({ input: child.stderr })) {
    if (WORKERD_NOISE.test(line)) appendFileSync(resolve(resultsDirectory, 'workerd.log'), `${line}\n`);
    else if (print === undefined) console.error(line);
    else print(`${line}\n`);
  }
  return ended;
}

async function run(kind: 'fast' | 'slow'): Promise<boolean> {
  mkdirSync(resultsDirectory, { recursive: true });
  for (const old of readdirSync(resultsDirectory)) {
    if (old.startsWith(`${kind}-`)) rmSync(resolve(resultsDirectory, old));
  }
  const ran: SuiteRun[] = [];
  const beside: Promise<SuiteRun>[] = [];
  for (const suite of SUITES[kind]) {
    if (suite.beside !== undefined) beside.push(runSuite(kind, suite));
    else ran.push(await runSuite(kind, suite));
  }
  for (const suite of await Promise.all(beside)) {
    console.log(suite.output);
    ran.push(suite);
  }
  console.log(`\n${ran.map(({ line }) => line).join('\n')}`);
  return ran.every(({ ok }) => ok);
}

/** `line`: what is said of the suite at the end. `output`: what was not shown meanwhile. */
type SuiteRun = { readonly ok: boolean; readonly line: string; readonly output: string };

async function runSuite(kind: 'fast' | 'slow', { name, command, counted, beside }: Suite): Promise<SuiteRun> {
  const heading = `\n== ${name}`;
  let output = `${heading}\n`;
  const print = (text: string): void => {
    output += text;
  };
  if (beside === undefined) console.log(heading);
  const report = resolve(resultsDirectory, `${kind}-${name}.json`);
  const [program, ...args] = command;
  const reporting = counted ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : [];
  const started = performance.now();
  const status = await runProgram(
    program,
    [...args, ...reporting],
    beside === 'filler',
    beside === undefined ? undefined : print,
  );
  const seconds = (performance.now() - started) / 1000;
  // A suite without a test runner counts as one test; a test runner without a report has failed.
  if (!counted) writeReport(report, status === 0 ? 1 : 0, status === 0 ? 0 : 1);
  const outcome = readOutcome(report);
  const isUnexplained = status !== 0 && (outcome === null || outcome.failed === 0);
  // An error outside of all tests, or a signal.
  if (isUnexplained) writeReport(`${report.slice(0, -'.json'.length)}-end.json`, 0, 1);
  const ok = status === 0 && outcome !== null;
  return { ok, line: `${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(12)} ${seconds.toFixed(1).padStart(7)} s`, output };
}

/** The report of a suite that counts as one test. */
function writeReport(file: string, numPassedTests: number, numFailedTests: number): void {
  writeFileSync(file, JSON.stringify({ numPassedTests, numFailedTests, numPendingTests: 0, numTodoTests: 0 }));
}

function printTotal(kinds: readonly string[]): Counts {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const files = existsSync(resultsDirectory) ? readdirSync(resultsDirectory) : [];
  for (const file of files.filter((name) => kinds.some((kind) => name.startsWith(`${kind}-`)))) {
    const outcome = readOutcome(resolve(resultsDirectory, file));
    if (outcome === null) continue;
    total.passed += outcome.passed;
    total.failed += outcome.failed;
    total.skipped += outcome.skipped;
    const suite = file.slice(0, -'.json'.length);
    for (const line of outcome.repeated) console.log(`passed at the second attempt: ${suite}: ${line}`);
    for (const line of outcome.failures) console.log(`failed: ${suite}: ${line}`);
    if (outcome.failed > 0 && outcome.failures.length === 0) console.log(`failed: ${suite}: ended with an error`);
  }
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  return total;
}

const kind = process.argv[2];
if (kind === 'fast' || kind === 'slow') {
  const ok = await run(kind);
  printTotal([kind]);
  process.exit(ok ? 0 : 1);
} else if (kind === 'total') {
  const total = printTotal(['fast', 'slow']);
  process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);
} else {
  console.error('usage: node scripts/suites.ts fast|slow|total');
  process.exit(2);
}
