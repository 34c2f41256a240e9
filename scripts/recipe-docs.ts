/**
 * `node scripts/recipe-docs.ts`: generates the tables in docs/recipes.md, between its markers, from the recipes and
 * their origins. `--check` writes nothing and fails if the tables differ. Another file can be given as an argument, for
 * tests.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  describeRecipes,
  originOf,
  type ParameterDescription,
  type RecipeDescription,
} from '../src/families/catalogue.ts';
import { FAMILY_NAMES, type FamilyName, familyOf } from '../src/families/registry.ts';
import type { RewardRange } from '../src/family/family.ts';

const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true });
const path = resolve(positionals[0] ?? resolve(import.meta.dirname, '..', 'docs/recipes.md'));
const recipes = await describeRecipes();
const found = readFileSync(path, 'utf8');
const wanted = withTables(found);
if (values.check !== true) {
  writeFileSync(path, wanted);
  console.log(`wrote ${path}`);
} else if (found !== wanted) {
  console.error(`${path} differs from the recipes in src/families: run node scripts/recipe-docs.ts`);
  process.exitCode = 1;
}

function withTables(text: string): string {
  let result = between(text, 'published models', publishedModels());
  for (const family of FAMILY_NAMES) result = between(withSection(result, family), family, familyTables(family));
  return result;
}

/** Appends a section for a family that has none. */
function withSection(text: string, family: FamilyName): string {
  if (text.includes(openingOf(family))) return text;
  return `${text.trimEnd()}\n\n## The ${family} family\n\n${openingOf(family)}${closingOf(family)}\n`;
}

function openingOf(name: string): string {
  return `<!-- made by scripts/recipe-docs.ts: ${name} -->\n`;
}

function closingOf(name: string): string {
  return `<!-- end: ${name} -->`;
}

/** Replaces the text between the markers of that name. @throws Error unless the markers occur once and in order. */
function between(text: string, name: string, content: string): string {
  const [opening, closing] = [openingOf(name), closingOf(name)];
  const [before, inside, more] = text.split(opening);
  const [, after, extra] = inside?.split(closing) ?? [];
  if (before === undefined || after === undefined || more !== undefined || extra !== undefined) {
    throw new Error(`expected one pair of markers named ${name}`);
  }
  return `${before}${opening}\n${content}\n\n${closing}${after}`;
}

/** Parameters that each published run states or leaves open; variants without a published run are left out. */
function publishedModels(): string {
  const rows = recipes.flatMap((recipe): string[][] => {
    const { not_said } = originOf(recipe.name);
    if (not_said === null) return [];
    const facts = [...recipe.parameters, ...recipe.training];
    const of = (mark: string): string =>
      facts.flatMap(({ name, value, ...fact }) => (fact.mark === mark ? [`${name} ${code(value)}`] : [])).join(', ');
    const chosen = recipe.parameters.flatMap(({ name, mark }) => (mark === 'ours' ? [code(name)] : []));
    const open = chosen.length === 0 ? not_said : `${not_said}. Ours: ${chosen.join(', ')}`;
    return [[recipe.model ?? 'none', code(recipe.name), of('card') || '-', of('code') || '-', open]];
  });
  return table(['model', 'recipe', 'its card gives', 'public code gives', 'not said'], rows);
}

function familyTables(family: FamilyName): string {
  const members = recipes.filter((recipe) => recipe.family === family);
  const parameters = members[0]?.parameters ?? [];
  return [
    familyOf({ family })
      .recipe.formula.map((line) => `    ${line}`)
      .join('\n'),
    table(
      ['recipe', 'model', 'reward', 'what it is'],
      members.map(({ name, model, reward_range, summary }) => [
        code(name),
        model ?? '-',
        rangeText(reward_range),
        summary,
      ]),
    ),
    table(['parameter', 'kind', 'meaning'], meaningRows(parameters)),
    table(['parameter', 'recipes', 'value', 'mark', 'source'], valueRows(members, 'parameters')),
    table(['of the run', 'recipes', 'value', 'mark', 'source'], valueRows(members, 'training')),
  ].join('\n\n');
}

/** One row per description: members of a parameter without their own description share a row. */
function meaningRows(parameters: readonly ParameterDescription[]): string[][] {
  const rows = new Map<string, string[]>();
  for (const { name, kind, description } of parameters) {
    const key = JSON.stringify([name.split('.')[0], description]);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, [code(name), kind, description ?? '']);
    else row[0] = `${row[0]}, ${code(name)}`;
  }
  return [...rows.values()];
}

/** One row per distinct value and source of a parameter, with the recipes that share it. */
function valueRows(members: readonly RecipeDescription[], part: 'parameters' | 'training'): string[][] {
  const names = new Set(members.flatMap((recipe) => recipe[part].map(({ name }) => name)));
  return [...names].flatMap((name) => {
    const rows = new Map<string, { readonly cells: readonly string[]; readonly sharing: string[] }>();
    for (const recipe of members) {
      const fact = recipe[part].find((each) => each.name === name);
      if (fact === undefined) continue;
      const cells = [code(fact.value), fact.mark, sourceCell(recipe, fact)];
      const key = JSON.stringify(cells);
      const row = rows.get(key) ?? { cells, sharing: [] };
      row.sharing.push(code(recipe.name));
      rows.set(key, row);
    }
    return [...rows.values()].map(({ cells, sharing }) => [
      code(name),
      sharing.length === members.length ? 'all' : sharing.join(', '),
      ...cells,
    ]);
  });
}

/** Quotes a model card; names the card if it is not the recipe's own. */
function sourceCell(
  { model }: RecipeDescription,
  { mark, source }: Pick<ParameterDescription, 'mark' | 'source'>,
): string {
  if (mark !== 'card') return source;
  const colon = source.indexOf(':');
  const card = source.slice(0, colon);
  const words = code(source.slice(colon + ': "'.length, -1));
  return card === model ? words : `${words} (${card})`;
}

function rangeText([low, high]: RewardRange): string {
  const bound = (value: number | null): string => (value === null ? 'no bound' : String(Number(value.toPrecision(12))));
  return `${bound(low)} to ${bound(high)}`;
}

function code(value: string | number | boolean): string {
  return `\`${value}\``;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

/** Escapes text for a table cell, except code spans. */
function cell(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[*<[\\]/gu, '\\$&')))
    .join('`')
    .replaceAll('|', '\\|');
}
