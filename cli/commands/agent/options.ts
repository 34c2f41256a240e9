/** The flags of `citeward agent`. */
import { isJsonObject } from '../../../src/json.ts';
import { MAX_AGENT_TURNS, MAX_SEED } from '../../../src/limits.ts';
import { agentRequestSchema } from '../../../src/wire/agent.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import type { Flags } from '../../shared/flags.ts';
import {
  changedRecipe,
  type FieldChanges,
  type RecipeFlag,
  readChanges,
  readRecipe,
} from '../../shared/recipe-flags.ts';
import { scoringOnlyFields } from '../../shared/row-fields.ts';
import { MAP_FLAG } from '../../shared/row-files/open-rows.ts';
import { BACKENDS_FLAG } from '../../shared/row-host.ts';
import { type Fields, withoutFields } from '../../shared/rows.ts';
import { givenFields, samplingOf } from '../../shared/sampling.ts';
import { WAIT_FLAG } from '../../shared/worker.ts';

/** The default of the Worker for trajectories. */
const DEFAULT_RECIPE = 'open-agentrl';

export const agentSyntax: CommandSyntax = {
  json: 'a row: `AgentResponse`, with `line` and `id`',
  usage: [
    'agent --question TEXT --url URL [flags]',
    'agent FILE.jsonl --url URL [flags]',
    'agent - --url URL [flags]          (rows from standard input)',
  ],
  flags: [
    { name: 'question', kind: 'text', value: 'TEXT', help: 'One question, instead of a file of rows.' },
    { name: 'reference', kind: 'text', value: 'TEXT', help: 'The correct final answer; it scores the trajectory.' },
    {
      name: 'recipe',
      kind: 'text',
      value: 'NAME|JSON|@FILE',
      help: `A recipe of the tool-call family (default ${DEFAULT_RECIPE}).`,
    },
    { name: 'set', kind: 'list', value: 'FIELD=VALUE', help: 'Change one field of the recipe; may be repeated.' },
    { name: 'generator', kind: 'text', value: 'GENERATOR', help: 'The generator, by its name in the Worker.' },
    { name: 'max-turns', kind: 'text', value: 'N', help: `Assistant turns, 1 to ${MAX_AGENT_TURNS} (default 16).` },
    { name: 'temperature', kind: 'text', value: 'T', help: '0 to 2 (default 1); 0 is greedy.' },
    { name: 'top-p', kind: 'text', value: 'P', help: 'Above 0, at most 1 (default 1).' },
    { name: 'seed', kind: 'text', value: 'SEED', help: 'For every turn (default: random).' },
    { name: 'thinking', kind: 'switch', help: 'The policy may think before it answers.' },
    { name: 'json', kind: 'switch', help: 'Print one JSON result a line, with its line and id, when it is complete.' },
    { name: 'url', kind: 'text', value: 'URL', help: 'The Worker with the generator and the sandbox.' },
    BACKENDS_FLAG,
    { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; safer in the environment, as CITEWARD_KEY.' },
    WAIT_FLAG,
    MAP_FLAG,
    { name: 'concurrency', kind: 'text', value: 'N', help: 'Trajectories at the same time, with --json (default 4).' },
  ],
  details: [
    'A row holds the fields of POST /v1/agent, and optionally id and note. "question" is short for',
    'messages with one question. Flags win over the row. Fields about an existing response are ignored.',
    'Trajectories are scored if there is a reference, or if the row has tests.',
    'Exit code: 0 all trajectories complete (and scored), 1 some lines invalid, interrupted or not',
    'scored, 2 wrong command line.',
  ],
};

type AgentOptions = {
  readonly fields: Fields;
  readonly sampling: Fields;
  /** The recipe of the flags; `null` = the recipe of the row, else the default. */
  readonly recipe: RecipeFlag | null;
  readonly changes: FieldChanges;
};

/** Reads all flags but `--question`. @throws UsageError */
export async function readAgentOptions(flags: Flags): Promise<AgentOptions> {
  const named = flags.text('recipe');
  return {
    fields: givenFields({
      reference: flags.text('reference'),
      generator: flags.text('generator'),
      max_turns: flags.count('max-turns', { min: 1, max: MAX_AGENT_TURNS }),
      thinking: flags.isOn('thinking') ? true : null,
    }),
    // The schema of the request checks the ranges.
    sampling: givenFields({
      temperature: flags.number('temperature'),
      top_p: flags.number('top-p'),
      seed: flags.count('seed', { min: 0, max: MAX_SEED }),
    }),
    recipe: named === null ? null : await readRecipe(named),
    changes: readChanges(flags.list('set')),
  };
}

const NOT_OF_AGENTS = scoringOnlyFields(agentRequestSchema);

/** Fields that say how a trajectory is scored. The Worker refuses them without a reference or tests. */
const TRAJECTORY_SCORING_FIELDS: ReadonlySet<string> = new Set([
  'recipe',
  'judgments',
  'replicate',
  'on_judge_failure',
]);

/**
 * Builds the request of a row: the fields of the row and of the flags; a flag overrides the row. A row with a
 * `question` and no `messages` begins a conversation with the question. Fields that only scoring reads are left out, so
 * that a file for `citeward score` works.
 */
export function applyAgentOptions(row: Fields, options: AgentOptions): Fields {
  const { question } = row;
  const messages = row['messages'] ?? (question === undefined ? undefined : [{ role: 'user', content: question }]);
  const all: Fields = {
    ...withoutFields(row, NOT_OF_AGENTS),
    ...(messages === undefined ? {} : { messages }),
    ...options.fields,
    ...samplingOf(row, options.sampling),
  };
  const isScored = Object.hasOwn(all, 'reference') || Object.hasOwn(all, 'tests');
  if (!isScored) return namesRecipe(options) ? all : withoutFields(all, TRAJECTORY_SCORING_FIELDS);
  const base = options.recipe ?? all['recipe'] ?? DEFAULT_RECIPE;
  return {
    ...all,
    recipe: typeof base === 'string' || isJsonObject(base) ? changedRecipe(base, options.changes) : base,
  };
}

function namesRecipe({ recipe, changes }: AgentOptions): boolean {
  return recipe !== null || Object.keys(changes).length > 0;
}

/** The fields that the flags set in every row. */
export function agentFieldsSet(options: AgentOptions): ReadonlySet<string> {
  const fields = new Set(Object.keys(options.fields));
  if (Object.keys(options.sampling).length > 0) fields.add('sampling');
  if (namesRecipe(options)) fields.add('recipe');
  return fields;
}
