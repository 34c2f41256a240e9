/** The borders of the scoring library hold: a wrong import, platform type or fetch in src/ fails lint or typecheck. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';

const root = resolve(import.meta.dirname, '../../..');
const biome = resolve(root, 'node_modules/.bin/biome');
const tsc = resolve(root, 'node_modules/.bin/tsc');

// Each case starts a process; how soon that ends says nothing about borders.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Runs `use` with files in a folder of their own inside src/, where all rules of src/ hold. */
function withProbes<T>(files: Readonly<Record<string, string>>, use: (folder: string) => T): T {
  const folder = mkdtempSync(join(root, 'src', 'probe-'));
  try {
    for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), code);
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const lintReportSchema = z.object({
  diagnostics: z.array(z.object({ category: z.string(), location: z.object({ path: z.string() }) })),
});

/** Lints files, all in one process. Returns the broken rules of each. */
function lint(files: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  return withProbes(files, (folder) => {
    const flags = ['--error-on-warnings', '--max-diagnostics=none', '--reporter=json'];
    const run = spawnSync(biome, ['lint', ...flags, folder], { cwd: root, encoding: 'utf8' });
    const { diagnostics } = lintReportSchema.parse(JSON.parse(run.stdout));
    const named = Map.groupBy(diagnostics, ({ location }) => basename(location.path));
    return new Map(Object.keys(files).map((name) => [name, (named.get(name) ?? []).map(({ category }) => category)]));
  });
}

function typecheck(code: string): number | null {
  const tsconfig = '{ "extends": "../tsconfig.json", "include": ["probe.ts"] }';
  return withProbes({ 'probe.ts': code, 'tsconfig.json': tsconfig }, (folder) => {
    return spawnSync(tsc, ['--noEmit', '-p', folder], { cwd: root }).status;
  });
}

describe('lint of src/', () => {
  const refused: readonly (readonly [what: string, code: string])[] = [
    ['an import of functions/', "import { app } from '../functions/index.ts';\nexport const x = app;\n"],
    ['an import of cli/', "import { main } from '../../cli/main.ts';\nexport const x = main;\n"],
    ['a Node module', "import { readFileSync } from 'node:fs';\nexport const x = readFileSync;\n"],
    ['a platform module', "import { env } from 'cloudflare:workers';\nexport const x = env;\n"],
    ['the HTTP framework', "import { Hono } from 'hono';\nexport const x = new Hono();\n"],
    ['fetch', "export const x = fetch('https://example.org');\n"],
    ['a timer', 'export const x = setTimeout(() => 1, 10);\n'],
    ['any', 'export const x: any = 1;\n'],
    ['a non-null assertion', 'export const x = (list: string[]) => list[0]!.length;\n'],
    ['an empty catch', 'export function x() {\n  try {\n    return 1;\n  } catch {}\n  return 2;\n}\n'],
  ];
  const PLAIN = 'plain.ts';
  let broken: ReadonlyMap<string, readonly string[]>;
  beforeAll(() => {
    const probes = refused.map(([, code], n) => [`probe-${n}.ts`, code] as const);
    broken = lint({ ...Object.fromEntries(probes), [PLAIN]: 'export const answer = 42;\n' });
  });

  it.each(refused.map(([what], n) => [what, n] as const))('refuses %s', (_what, n) => {
    expect(broken.get(`probe-${n}.ts`)).not.toEqual([]);
  });

  it('accepts a plain module', () => {
    expect(broken.get(PLAIN)).toEqual([]);
  });
});

describe('types of src/', () => {
  it.each([
    ['a KV namespace', 'export type Store = KVNamespace;\n'],
    ['a Durable Object', 'export type State = DurableObjectState;\n'],
    ['Node', 'export const x = Buffer.from("x");\n'],
  ])('do not know %s', (_what, code) => expect(typecheck(code)).not.toBe(0));

  it('know what every runtime has', () => {
    expect(typecheck('export const bytes = new TextEncoder().encode("x");\n')).toBe(0);
  });
});

describe('the repository', () => {
  const files = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
    .stdout.split('\n')
    .filter((file) => file !== '' && existsSync(resolve(root, file)));

  it('has no file over 400 lines outside tests and data', () => {
    const long = files
      .filter((file) =>
        /^(src|functions|serve|cli|scripts|bench|clients|gpu-backend)\/.*\.(ts|tsx|mjs|py)$/u.test(file),
      )
      .filter((file) => readFileSync(resolve(root, file), 'utf8').split('\n').length > 400);
    expect(long).toEqual([]);
  });

  it('calls nothing utils, helpers or managers', () => {
    expect(files.filter((file) => /(^|\/)[^/]*(utils?|helpers?|manager)[^/]*\.(ts|tsx|mjs|py)$/iu.test(file))).toEqual(
      [],
    );
  });

  it('locks every optional platform package, so that a fresh clone installs everywhere', () => {
    const lock: { packages: Record<string, { optionalDependencies?: Record<string, string> }> } = JSON.parse(
      readFileSync(resolve(root, 'package-lock.json'), 'utf8'),
    );
    const names = new Set(Object.keys(lock.packages).map((path) => path.split('node_modules/').at(-1)));
    const missing = Object.values(lock.packages)
      .flatMap(({ optionalDependencies }) => Object.keys(optionalDependencies ?? {}))
      .filter((name) => !names.has(name));
    expect(missing).toEqual([]);
  });

  it('has decisions that are dated', () => {
    for (const name of readdirSync(resolve(root, 'docs/decisions')))
      expect(name).toMatch(/^\d{4}-\d{2}-\d{2}-.+\.md$/u);
  });
});
