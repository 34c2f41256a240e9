/**
 * Three kinds of test: `unit` in Node (milliseconds), `functions` inside workerd with simulated bindings, `e2e` black
 * box against real processes, `slow` for what takes minutes. Storage in `functions` is isolated per file, and a file
 * costs about a second: few files.
 */
import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';

const ofProcesses = {
  environment: 'node',
  testTimeout: 120_000,
  hookTimeout: 120_000,
  fileParallelism: false,
} as const;

export default defineConfig({
  test: {
    // Request logs of tests that pass are noise.
    silent: 'passed-only',
    projects: [
      { test: { name: 'unit', environment: 'node', include: ['test/unit/**/*.test.ts'] } },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            remoteBindings: false,
            miniflare: { bindings: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' } },
          }),
        ],
        test: {
          name: 'functions',
          // A model server that misbehaves on request.
          globalSetup: ['./test/contract/stub-backend.ts'],
          include: ['test/functions/**/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      { test: { name: 'e2e', ...ofProcesses, include: ['test/e2e/**/*.test.ts'] } },
      { test: { name: 'slow', ...ofProcesses, include: ['test/slow/**/*.test.ts'] } },
    ],
  },
});
