/**
 * `unit` in Node (milliseconds), `functions` inside workerd with simulated bindings, `e2e` black box against real
 * processes; `slow`, `slow-pages` and `slow-functions` for what takes minutes, `llm` against a real LLM server. A Worker
 * costs 2.4 s of a processor, so the files of `functions` share one; those of `functions-alone` do not.
 */
import { resolve } from 'node:path';
import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { bundledSources } from './scripts/bundled-sources.ts';

/**
 * Tests that wait for processes, sockets and clocks get a second attempt in CI, so that one delay does not fail a run of
 * half an hour. scripts/suites.ts names those that needed it: such a test is a defect to mend.
 */
const attempts = process.env['CI'] === undefined ? {} : { retry: 1 };

/** The standard limit of 1 s is missed on a busy machine. */
const patient = { expect: { poll: { timeout: 20_000 } } };

const ofProcesses = {
  environment: 'node',
  ...attempts,
  globalSetup: './test/e2e/bundled-cli.ts',
  // The bundle is imported as it is.
  server: { deps: { external: [/\/\.cache\/cli\//u] as RegExp[] } },
  // They start many processes of the same sources.
  env: { NODE_COMPILE_CACHE: resolve(import.meta.dirname, '.cache/compiled') },
  testTimeout: 120_000,
  hookTimeout: 120_000,
  ...patient,
  fileParallelism: false,
} as const;

/** The plugins of tests that run inside workerd. */
function inWorkerd() {
  return [
    bundledSources('test/{functions,slow-functions,contract,house,unit}/*.ts'),
    cloudflareTest({
      main: './test/functions/worker.ts',
      wrangler: { configPath: './wrangler.toml' },
      remoteBindings: false,
      miniflare: {
        bindings: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true', ALLOWED_HOSTS: 'citeward.test' },
      },
    }),
  ];
}

/** Measures processor time, so it may run beside other suites. */
const LINEAR_TIME = 'test/slow/linear-time.test.ts';

/**
 * Files of `functions` with a Worker of their own: they count what an isolate has done since it began, or run the tests
 * of another file over sealed records. The others share one, which own-worker.ts resets after each file.
 */
const ALONE = ofFunctions('openapi-examples', 'operation-counts');

/** Run over sealed records the tests of files that `functions` has. */
const SEALED = ofFunctions('replay-sealed', 'runs-sealed');

/** Files that try a part of what they can (faults, sizes, orders of events) in `functions`, and all in `slow-functions`. */
const MATRICES = ofFunctions(
  'adapters-failures',
  'backends-faults',
  'compat-graders',
  'compat-grounding',
  'desk-storage',
  'files',
);

function ofFunctions(...names: readonly string[]): string[] {
  return names.map((name) => `test/functions/${name}.test.ts`);
}

/**
 * Slow files that do what pages tell a person to do, and copies of the repository: they wait and measure nothing, so
 * they run beside the others (scripts/suites.ts).
 */
const OF_PAGES = [
  'cli-view',
  'deploy',
  'documented-figures',
  'fifth-family',
  'fifth-family-tools',
  'new-kind',
  'newcomer',
  'package',
  'pictures',
  'printed-commands',
].map((name) => `test/slow/${name}.test.ts`);

const inFunctions = {
  ...attempts,
  ...patient,
  // A model server that misbehaves on request.
  globalSetup: ['./test/contract/stub-backend.ts'],
  maxWorkers: 2,
  // Against tests that hang: the longest take 4 s, and a busy machine has needed six times as long.
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

// By a path that Vite cannot follow: it would bundle the whole product into this file, 6 s of a processor for each run.
const builder: typeof import('./scripts/build-dashboard.ts') = await import(
  `${import.meta.dirname}/scripts/build-dashboard.ts`
);
const { ensureDashboard, hasDashboard, placeDocuments } = builder;
// workerd takes no Worker whose assets are missing.
if (hasDashboard()) await placeDocuments();
else await ensureDashboard();

// Repeats or varies the suites `fuzz-*` and all property tests, which draw `fuzzRuns` cases each.
const fuzzSeed = Number(process.env['FUZZ_SEED'] ?? 20_261_122);
const fuzzRuns = Number(process.env['FUZZ_RUNS'] ?? 100);
const ofProperties = {
  setupFiles: ['./test/unit/property-seed.ts'],
  provide: { fuzzSeed, fuzzRuns, triesAllRows: false },
};

export default defineConfig({
  test: {
    // Vitest leaves one processor out, which is half of a small machine. `functions` and `e2e` run side by side
    // (scripts/suites.ts), and the tests of `e2e` also wait.
    // Request logs of tests that pass are noise.
    silent: 'passed-only',
    projects: [
      {
        test: {
          name: 'unit',
          environment: 'node',
          maxWorkers: 2,
          // Files share what they import, which is a third of the time: no unit test changes a module's state.
          isolate: false,
          ...ofProperties,
          include: ['test/unit/**/*.test.ts'],
          // Against tests that hang, as below.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        plugins: inWorkerd(),
        test: {
          name: 'functions',
          ...inFunctions,
          ...ofProperties,
          setupFiles: [...ofProperties.setupFiles, './test/functions/own-worker.ts'],
          include: ['test/functions/**/*.test.ts'],
          exclude: [...ALONE, ...SEALED],
          isolate: false,
        },
      },
      {
        plugins: inWorkerd(),
        test: { name: 'functions-alone', ...inFunctions, ...ofProperties, include: ALONE },
      },
      {
        test: {
          name: 'e2e',
          ...ofProcesses,
          fileParallelism: true,
          maxWorkers: 3,
          // As in `unit`: what the files import costs a fifth of the suite's processor time.
          isolate: false,
          include: ['test/e2e/**/*.test.ts'],
        },
      },
      {
        plugins: inWorkerd(),
        test: {
          name: 'slow-functions',
          ...inFunctions,
          ...ofProperties,
          include: ['test/slow-functions/**/*.test.ts', ...SEALED, ...MATRICES],
          provide: { ...ofProperties.provide, triesAllRows: true },
          testTimeout: 600_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      { test: { name: 'slow-linear', environment: 'node', testTimeout: 600_000, include: [LINEAR_TIME] } },
      { test: { name: 'vendors', ...ofProcesses, include: ['test/vendors/*.test.ts'] } },
      { test: { name: 'llm', ...ofProcesses, include: ['test/llm/**/*.test.ts'] } },
      {
        test: {
          name: 'slow',
          ...ofProcesses,
          testTimeout: 600_000,
          include: ['test/slow/**/*.test.ts'],
          exclude: [LINEAR_TIME, ...OF_PAGES],
          provide: { fuzzSeed },
        },
      },
      { test: { name: 'slow-pages', ...ofProcesses, testTimeout: 600_000, include: OF_PAGES } },
    ],
  },
});
