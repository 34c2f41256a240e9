/**
 * The README is true: its request gives its reply, and its scripts and names exist. The figures of its
 * replay are checked in test/slow/documented-figures.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import * as library from '../../../lib/index.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { rolloutOf } from '../../../src/family/rollout-schema.ts';
import { judgeLexically, LEXICAL_IDENTITY } from '../../../src/judgments/lexical-judge.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { scoreRollout } from '../../../src/scoring/score-rollouts.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';

const root = resolve(import.meta.dirname, '../../..');
const readme = readFileSync(resolve(root, 'README.md'), 'utf8');

/** Expects every value of `part` in `whole`, and lists of equal length. */
function expectWithin(part: unknown, whole: unknown, at: string): void {
  if (typeof part !== 'object' || part === null) {
    expect(whole, at).toEqual(part);
    return;
  }
  if (typeof whole !== 'object' || whole === null) throw new Error(`${at} is missing`);
  if (Array.isArray(part)) expect(whole, at).toHaveLength(part.length);
  const members = new Map(Object.entries(whole));
  for (const [name, value] of Object.entries(part)) expectWithin(value, members.get(name), `${at}.${name}`);
}

it('gives the reply that it shows', async () => {
  const shown: unknown = JSON.parse(readme.split('```json')[1]?.split('```')[0] ?? '');
  const body: unknown = JSON.parse(readFileSync(resolve(root, 'examples/request.json'), 'utf8'));
  const request = scoreRequestSchema.parse(body);
  const recipe = await resolveRecipe(request.recipe);
  if (!recipe.ok) throw new Error('the README names a recipe that is none');
  const result = await scoreRollout(
    { rollout: rolloutOf(request), recipe: recipe.value },
    {
      judge: {
        ok: true,
        judge: {
          name: 'lexical',
          model: LEXICAL_IDENTITY.model,
          identityFor: () => LEXICAL_IDENTITY,
          context_tokens: null,
          judge: async (asked) => ({ ok: true, verdicts: judgeLexically(asked), usage: null }),
        },
      },
      store: createMemoryJudgmentStore(),
      mode: 'use',
      replicate: 0,
      deadline_ms: 1_000,
      now: () => '2026-11-21T00:00:00Z',
      elapsed: () => 0,
    },
  );
  if (result.status !== 'done') throw new Error(`the README's request is ${result.status}`);
  expectWithin(shown, result.reply, 'reply');
});

it('imports names that exist', () => {
  const [, names = ''] = /import \{ (?<names>[^}]+) \} from 'citeward';/u.exec(readme) ?? [];
  expect(names.split(', ').filter((name) => !Object.hasOwn(library, name))).toEqual([]);
  const [, python = ''] = /from citeward\.trl import (?<name>\w+)/u.exec(readme) ?? [];
  const source = readFileSync(resolve(root, 'clients/python/citeward/trl.py'), 'utf8');
  expect(source).toContain(`\ndef ${python}(`);
});

it('names scripts that exist', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(resolve(root, 'package.json'), 'utf8'),
  );
  const named = [...readme.matchAll(/npm (?:run (?<run>[a-z:-]+)|(?<test>test))/gu)].map(
    ({ groups }) => groups?.['run'] ?? groups?.['test'] ?? '',
  );
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});

it('links to files that exist', () => {
  const links = [...readme.matchAll(/\]\((?<path>[^)#:]+)\)/gu)].map(({ groups }) => groups?.['path'] ?? '');
  expect(links.length).toBeGreaterThan(5);
  expect(links.filter((path) => !existsSync(resolve(root, path)))).toEqual([]);
});
