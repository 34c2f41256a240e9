/** docs/reference/recipes.md agrees with recipes and origins; its requests are valid, and its links lead somewhere. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { describeRecipes, type ParameterDescription } from '../../../src/families/catalogue.ts';
import { RECIPE_NAMES } from '../../../src/families/composers.ts';
import { DOCUMENTS } from '../../../src/families/list.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';

const root = resolve(import.meta.dirname, '../../..');
const docs = readFileSync(resolve(root, 'docs/reference/recipes.md'), 'utf8');

/** Runs the script over a copy of the documentation with `text` in it. */
function run(text: string, ...options: readonly string[]): { status: number | null; after: string } {
  const folder = mkdtempSync(join(tmpdir(), 'recipe-docs-'));
  const copy = join(folder, 'recipes.md');
  try {
    writeFileSync(copy, text);
    const { status } = spawnSync(process.execPath, [resolve(root, 'scripts/recipe-docs.ts'), ...options, copy]);
    return { status, after: readFileSync(copy, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every origin below, with where it stands. */
function origins(value: unknown, at: string): [at: string, origin: Readonly<Record<string, unknown>>][] {
  if (typeof value !== 'object' || value === null) return [];
  if ('mark' in value) return [[at, { ...value }]];
  return Object.entries(value).flatMap(([name, member]) => origins(member, `${at}.${name}`));
}

/** The row of a parameter in the table of values, with this value among those of the recipes. */
function rowOf({ name, kind, value, mark }: ParameterDescription): RegExp {
  const literal = (text: string): string => text.replaceAll(/[.*+?^$(){}|[\]\\]/gu, '\\$&');
  return new RegExp(`^\\| ${literal(`\`${name}\` | ${kind} |`)}.* ${literal(`\`${value}\` ${mark} |`)}`, 'mu');
}

// Each runs the script one to four times, which a busy machine starts slowly.
describe('the tables', { timeout: 60_000 }, () => {
  it('are those that the script makes', () => {
    expect(run(docs, '--check').status, 'run node scripts/recipe-docs.ts').toBe(0);
  });

  it('are generated again, and the rest is left', () => {
    const stale = docs.replace('| `0.2` card | `0.2` ours | `0.5` card |', '| `0.2` card | `0.2` ours | `0.4` card |');
    expect(stale).not.toBe(docs);
    expect(run(stale, '--check')).toEqual({ status: 1, after: stale });
    expect(run(stale)).toEqual({ status: 0, after: docs });
  });

  it('are refused a file that lost a marker', () => {
    const lost = docs.replace('<!-- end: tool-call -->', '');
    expect(run(lost)).toEqual({ status: 1, after: lost });
  });

  it('name every recipe and every parameter', async () => {
    for (const { name, parameters } of await describeRecipes()) {
      expect(docs).toContain(`* **\`${name}\`** (`);
      for (const parameter of parameters) expect(docs).toMatch(rowOf(parameter));
    }
  });
});

describe('the origins', () => {
  const ORIGINS = Object.fromEntries(Object.values(DOCUMENTS).flatMap(({ origins }) => Object.entries(origins)));
  const all = origins(ORIGINS, 'origins');

  it('are there for every recipe', () => {
    expect(Object.keys(ORIGINS).sort()).toEqual([...RECIPE_NAMES].sort());
    expect(all.length).toBeGreaterThan(100);
  });

  it('quote cards of the models that they name', () => {
    const models = Object.values(ORIGINS).map(({ model }) => model);
    for (const [at, { mark, card, line }] of all) {
      if (mark !== 'card') continue;
      expect(models, at).toContain(card);
      expect(line, at).toMatch(/^\S.*\S$/u);
    }
  });

  it('name a repository, a commit and a place in code', () => {
    for (const [at, { mark, repository, commit, path }] of all) {
      if (mark !== 'code') continue;
      expect(repository, at).toMatch(/^[\w.-]+\/[\w.-]+$/u);
      expect(commit, at).toMatch(/^[0-9a-f]{8,40}$/u);
      expect(path, at).toMatch(/^[\w./-]+\.(?:py|sh|yaml)$/u);
    }
  });
});

describe('the text', () => {
  it('shows recipes that resolve, two a family and one with terms', async () => {
    const blocks = [...docs.matchAll(/```json\n(?<body>.*?)```/gsu)].map(({ groups }) => groups?.['body'] ?? '');
    expect(blocks).toHaveLength(9);
    const requestSchema = z.strictObject({ recipe: z.record(z.string(), z.unknown()) });
    for (const block of blocks) {
      const resolution = await resolveRecipe(requestSchema.parse(JSON.parse(block)).recipe);
      expect(resolution.ok ? [] : resolution.error, block).toEqual([]);
    }
  });

  it('links to files that exist', () => {
    const links = [...docs.matchAll(/\]\((?<path>\.\.[^)#]+)\)/gu)].map(({ groups }) => groups?.['path'] ?? '');
    expect(links.length).toBeGreaterThan(2);
    expect(links.filter((path) => !existsSync(resolve(root, 'docs/reference', path)))).toEqual([]);
  });
});
