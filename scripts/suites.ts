/**
 * `node scripts/suites.ts fast|slow|total`: runs test suites in sequence, prints the time of each, and ends with the
 * line `N passed, N failed`. `total` runs nothing and adds up the results of the last fast and slow runs.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { ensureDashboard } from './build-dashboard.ts';

const root = resolve(import.meta.dirname, '..');
const resultsDirectory = resolve(root, '.test-results');

type Suite = {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** True if the command is vitest, which reports counts as JSON. */
  readonly counted: boolean;
};

function vitest(name: string, ...filters: readonly string[]): Suite {
  return { name, command: ['vitest', 'run', '--project', name, ...filters], counted: true };
}

const SUITES: Record<'fast' | 'slow', readonly Suite[]> = {
  fast: [
    { name: 'typecheck', command: ['node', 'scripts/typecheck.ts'], counted: false },
    { name: 'lint', command: ['biome', 'check', '--error-on-warnings'], counted: false },
    { name: 'build', command: ['node', 'scripts/bundle-size.ts'], counted: false },
    vitest('unit'),
    vitest('functions'),
    vitest('e2e'),
  ],
  slow: [
    vitest('slow'),
    vitest('slow-functions'),
    { name: 'vendors-install', command: ['node', 'scripts/vendors.ts'], counted: false },
    vitest('vendors'),
    { name: 'llm-build', command: ['node', 'scripts/llm/build-server.ts'], counted: false },
    vitest('llm'),
  ],
};

type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

const reportSchema = z.object({
  testResults: z
    .array(
      z.object({
        status: z.string(),
        assertionResults: z.array(
          z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
        ),
      }),
    )
    .optional(),
});

function readCounts(file: string): Counts | null {
  if (!existsSync(file)) return null;
  const report: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (typeof report !== 'object' || report === null) return null;
  const fields = new Map(Object.entries(report));
  const count = (field: string): number => {
    const value = fields.get(field);
    if (typeof value !== 'number') throw new TypeError(`${file}: ${field} is not a number`);
    return value;
  };
  // A file that fails in its setup runs no test: vitest counts its tests as skipped, and none as failed.
  const brokenFiles = (reportSchema.parse(report).testResults ?? []).filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: count('numPassedTests'),
    failed: count('numFailedTests') + brokenFiles.length,
    skipped: count('numPendingTests') + count('numTodoTests'),
  };
}

/**
 * Errors that workerd logs for faults which tests cause on purpose. They go to a file, because on the screen they look
 * like failures.
 */
const WORKERD_NOISE = /^uncaught exception; (source|exception|stack) = /u;

/** Runs a program and returns its exit status; `null` if a signal ended it. */
async function runProgram(program: string, args: readonly string[]): Promise<number | null> {
  const child = spawn(resolve(root, 'node_modules/.bin', program), args, {
    cwd: root,
    stdio: ['inherit', 'inherit', 'pipe'],
  });
  const ended = new Promise<number | null>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done(code));
  });
  for await (const line of createInterface({ input: child.stderr })) {
    if (WORKERD_NOISE.test(line)) appendFileSync(resolve(resultsDirectory, 'workerd.log'), `${line}\n`);
    else console.error(line);
  }
  return ended;
}

async function run(kind: 'fast' | 'slow'): Promise<boolean> {
  mkdirSync(resultsDirectory, { recursive: true });
  for (const old of readdirSync(resultsDirectory)) {
    if (old.startsWith(`${kind}-`)) rmSync(resolve(resultsDirectory, old));
  }
  const times: string[] = [];
  let allPassed = true;
  for (const suite of SUITES[kind]) {
    console.log(`\n== ${suite.name}`);
    const report = resolve(resultsDirectory, `${kind}-${suite.name}.json`);
    const [program, ...args] = suite.command;
    const reporting = suite.counted ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : [];
    const started = performance.now();
    const status = await runProgram(program, [...args, ...reporting]);
    const seconds = (performance.now() - started) / 1000;
    // A suite without a test runner counts as one test; a test runner without a report has failed.
    if (!suite.counted) {
      writeFileSync(
        report,
        JSON.stringify({
          numPassedTests: status === 0 ? 1 : 0,
          numFailedTests: status === 0 ? 0 : 1,
          numPendingTests: 0,
          numTodoTests: 0,
        }),
      );
    }
    const ok = status === 0 && readCounts(report) !== null;
    allPassed &&= ok;
    times.push(`${ok ? 'ok    ' : 'FAILED'} ${suite.name.padEnd(12)} ${seconds.toFixed(1).padStart(7)} s`);
  }
  console.log(`\n${times.join('\n')}`);
  return allPassed;
}

/** The tests that passed only when they were repeated (vitest.config.ts). */
function repeated(prefixes: readonly string[]): string[] {
  const files = existsSync(resultsDirectory) ? readdirSync(resultsDirectory) : [];
  return files
    .filter((name) => prefixes.some((prefix) => name.startsWith(`${prefix}-`)) && name.endsWith('.json'))
    .flatMap((file) => {
      const read = reportSchema.parse(JSON.parse(readFileSync(resolve(resultsDirectory, file), 'utf8')));
      const tests = (read.testResults ?? []).flatMap(({ assertionResults }) => assertionResults);
      return tests.filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0);
    })
    .map(({ fullName }) => fullName);
}

function printTotal(prefixes: readonly string[]): Counts {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const files = existsSync(resultsDirectory) ? readdirSync(resultsDirectory) : [];
  for (const file of files.filter((name) => prefixes.some((prefix) => name.startsWith(`${prefix}-`)))) {
    const counts = readCounts(resolve(resultsDirectory, file));
    if (counts === null) continue;
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
  for (const name of repeated(prefixes)) console.log(`passed at the second attempt: ${name}`);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  return total;
}

const kind = process.argv[2];
if (kind === 'fast' || kind === 'slow') {
  await ensureDashboard();
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
