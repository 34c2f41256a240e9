/**
 * `node scripts/recipe-docs.ts`: generates the parts of docs/reference/recipes.md between its markers from the recipes and
 * their origins. `--check` writes nothing and fails if the page differs. Another file can be given as an argument, for tests.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  describeRecipes,
  documentsOf,
  originOf,
  type ParameterDescription,
  type RecipeDescription,
} from '../src/families/catalogue.ts';
import { FAMILY_NAMES, type FamilyName } from '../src/families/composers.ts';
import type { RewardRange } from '../src/family/family.ts';
import { TERM_FORMULA } from '../src/family/terms.ts';
import { VOTE_FORMULA } from '../src/family/votes.ts';
import { bold, code, escaped, item, MAX_COLUMNS, table, writeOrCheck } from './markdown.ts';

/** Lines that end the formula of every family: the page has them once. */
const COMMON_FORMULA: readonly string[] = [...TERM_FORMULA, ...VOTE_FORMULA];

const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true });
const path = resolve(positionals[0] ?? resolve(import.meta.dirname, '..', 'docs/reference/recipes.md'));
const recipes = await describeRecipes();
const found = readFileSync(path, 'utf8');
const wanted = withGenerated(found);
writeOrCheck(path, found, wanted, values.check === true, 'scripts/recipe-docs.ts');

function withGenerated(text: string): string {
  let result = between(text, 'recipes', recipes.map(recipeItem).join('\n'));
  result = between(result, 'published models', publishedModels());
  result = between(result, 'every family', indented(COMMON_FORMULA));
  for (const family of FAMILY_NAMES) result = between(withSection(result, family), family, familyText(family));
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

/**
 * Lists for each published run what its model card and its code give, and what they leave open. Unpublished variants
 * are omitted.
 */
function publishedModels(): string {
  return recipes
    .flatMap((recipe) => {
      const { not_said } = originOf(recipe.name);
      if (not_said === null) return [];
      const facts = [...recipe.parameters, ...recipe.training];
      const given = (mark: string): string[] => facts.flatMap((fact) => (fact.mark === mark ? [code(fact.name)] : []));
      const chosen = recipe.parameters.flatMap(({ name, mark }) => (mark === 'ours' ? [code(name)] : []));
      const part = (title: string, names: readonly string[]): string[] =>
        names.length === 0 ? [] : [item(`${title}: ${names.join(', ')}.`, 1)];
      return [
        item(`${bold(recipe.name)}, ${recipe.model === null ? 'no published model' : `model ${code(recipe.model)}`}`),
        ...part('The card gives', given('card')),
        ...part('The code gives', given('code')),
        item(`Not published: ${escaped(not_said)}.`, 1),
        ...part('We chose', chosen),
      ];
    })
    .join('\n');
}

function familyText(family: FamilyName): string {
  const members = recipes.filter((recipe) => recipe.family === family);
  // Those of the first recipe, then those that only others have.
  const all = members.flatMap((recipe) => recipe.parameters);
  const parameters = all.filter(({ name }, at) => all.findIndex((one) => one.name === name) === at);
  return [
    indented(documentsOf(family).formula.filter((line) => !COMMON_FORMULA.includes(line))),
    `### Parameters of ${family}`,
    meaningItems(parameters).join('\n'),
    `### Values of ${family}`,
    valueTable(members, parameters),
    `### Origins of the values of ${family}`,
    originItems(members, ({ parameters }) => parameters).join('\n'),
    `### Training runs of ${family}`,
    originItems(members, ({ training }) => training).join('\n'),
  ].join('\n\n');
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `    ${line}`).join('\n');
}

function recipeItem({ name, family, model, reward_range, summary }: RecipeDescription): string {
  const trained = model === null ? '' : ` Model: ${code(model)}.`;
  const link = `[${family}](#the-${family}-family)`;
  return item(`${bold(name)} (${link}, reward ${rangeText(reward_range)}): ${escaped(summary)}${trained}`);
}

/** One item per description: members of a parameter without their own description share an item. */
function meaningItems(parameters: readonly ParameterDescription[]): string[] {
  const items = new Map<string, { readonly names: string[]; readonly text: string }>();
  for (const { name, kind, description } of parameters) {
    const key = JSON.stringify([name.split('.')[0], description]);
    const entry = items.get(key) ?? { names: [], text: `(${kind}): ${escaped(description ?? '')}` };
    entry.names.push(bold(name));
    items.set(key, entry);
  }
  return [...items.values()].map(({ names, text }) => item(`${names.join(', ')} ${text}`));
}

/** One row per parameter, one column per recipe. Wide heads leave out the family. */
function valueTable(members: readonly RecipeDescription[], parameters: readonly ParameterDescription[]): string {
  const heads = (prefix: string): string[] => members.map(({ name }) => code(name.slice(prefix.length)));
  const isWide = heads('').join(' | ').length > MAX_COLUMNS - '| parameter | kind |  |'.length;
  return table(
    ['parameter', 'kind', ...heads(isWide ? `${members[0]?.family}-` : '')],
    parameters.map(({ name, kind }) => [
      code(name),
      kind,
      ...members.map((recipe) => {
        const fact = recipe.parameters.find((each) => each.name === name);
        return fact === undefined ? '-' : `${code(fact.value)} ${fact.mark}`;
      }),
    ]),
  );
}

type Fact = Pick<ParameterDescription, 'name' | 'value' | 'mark' | 'source'>;

/**
 * Lists the parameter values by recipe and origin: values that all recipes share come first, and values with one origin
 * are one item.
 */
function originItems(
  members: readonly RecipeDescription[],
  factsOf: (recipe: RecipeDescription) => readonly Fact[],
): string[] {
  const lists = members.map((recipe) => ({ recipe, items: groupedOrigins(recipe, factsOf(recipe)) }));
  const [first] = lists;
  const shared =
    lists.length < 2 ? [] : (first?.items ?? []).filter((one) => lists.every(({ items }) => items.includes(one)));
  return [
    ...(shared.length === 0 ? [] : ['* all recipes', ...shared]),
    ...lists.flatMap(({ recipe, items }) => {
      const own = items.filter((one) => !shared.includes(one));
      return own.length === 0 ? [] : [`* ${code(recipe.name)}`, ...own];
    }),
  ];
}

function groupedOrigins({ model }: RecipeDescription, facts: readonly Fact[]): string[] {
  const groups = new Map<string, string[]>();
  for (const { name, value, mark, source } of facts) {
    const origin = `${mark}: ${mark === 'card' ? quoteText(model, source) : escaped(source)}`;
    const values = groups.get(origin) ?? [];
    values.push(`${bold(name)} ${code(value)}`);
    groups.set(origin, values);
  }
  return [...groups].map(([origin, values]) => item(`${values.join(', ')}; ${origin}`, 1));
}

/** Quotes a model card; names the card if it is not the recipe's own. */
function quoteText(model: string | null, source: string): string {
  const colon = source.indexOf(':');
  const card = source.slice(0, colon);
  const words = code(source.slice(colon + ': "'.length, -1));
  return card === model ? words : `${words} (${card})`;
}

function rangeText([low, high]: RewardRange): string {
  const bound = (value: number): string => String(Number(value.toPrecision(12)));
  if (high === null) return low === null ? 'without bounds' : `at least ${bound(low)}`;
  return low === null ? `at most ${bound(high)}` : `${bound(low)} to ${bound(high)}`;
}
