/** `citeward agent`: questions in, trajectories of a policy with tools out, shown while they go on. */
/** How an agent is to work and be scored, as the flags of `citeward agent` say it. */

import { MAX_AGENT_TURNS, MAX_SEED } from '../../../src/limits.ts';
import { agentRequestSchema } from '../../../src/wire/agent.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription, Flags } from '../../shared/flags.ts';
import {
  changedRecipe,
  type FieldChanges,
  type RecipeFlag,
  readChanges,
  readRecipe,
} from '../../shared/recipe-flags.ts';
import { withoutFields } from '../../shared/rows.ts';
import { REMOTE_FLAGS } from '../../shared/worker.ts';

/** The Worker's own default for trajectories. */
const DEFAULT_RECIPE = 'open-agentrl';

export const AGENT_FLAGS: readonly FlagDescription[] = [
  {
    name: 'question',
    kind: 'text',
    value: 'TEXT',
    help: 'One conversation that begins with TEXT, in place of a file.',
  },
  { name: 'reference', kind: 'text', value: 'TEXT', help: 'The right final answer: the trajectory is scored by it.' },
  {
    name: 'recipe',
    kind: 'text',
    value: 'NAME|JSON|@FILE',
    help: `A recipe of the tool-call family (default ${DEFAULT_RECIPE}).`,
  },
  { name: 'set', kind: 'list', value: 'FIELD=VALUE', help: 'Change one field of the recipe; may be repeated.' },
  { name: 'generator', kind: 'text', value: 'NAME', help: 'The generator, by the name that the Worker has for it.' },
  { name: 'max-turns', kind: 'text', value: 'N', help: `Assistant turns, 1 to ${MAX_AGENT_TURNS} (default 16).` },
  { name: 'temperature', kind: 'text', value: 'T', help: '0 to 2 (default 1); 0 is greedy.' },
  { name: 'top-p', kind: 'text', value: 'P', help: 'Above 0, at most 1 (default 1).' },
  { name: 'seed', kind: 'text', value: 'SEED', help: 'Of every turn. Without it, chance decides.' },
  { name: 'thinking', kind: 'switch', help: 'The chat template may open a thinking part.' },
];

export const agentSyntax: CommandSyntax = {
  usage: [
    'agent --question TEXT --url URL [flags]',
    'agent FILE.jsonl --url URL [flags]',
    'agent - --url URL [flags]          (rows from standard input)',
  ],
  flags: [
    ...AGENT_FLAGS,
    { name: 'json', kind: 'switch', help: 'One JSON result a line, with its line and id, once it is whole.' },
    ...REMOTE_FLAGS.map((flag) =>
      flag.name === 'url'
        ? { ...flag, help: 'The Worker, which has the generator and the sandbox. Required.' }
        : flag.name === 'concurrency'
          ? { ...flag, help: 'Trajectories at a time, with --json (default 4).' }
          : flag,
    ),
  ],
  details: [
    'A row holds the fields of POST /v1/agent, and if you like id and note; question stands for messages that are one',
    'question. Flags win over a row. Fields about a response that is there already are not read.',
    'Trajectories are scored where there is a reference, or tests in the row.',
    'Exit code: 0 all trajectories whole (and scored), 1 some lines bad, broken off or not scored, 2 wrong command line.',
  ],
};

type Fields = Readonly<Record<string, unknown>>;

type AgentOptions = {
  readonly fields: Fields;
  readonly sampling: Fields;
  /** `null` = not said: a row's own, else the default. */
  readonly recipe: RecipeFlag | null;
  readonly changes: FieldChanges;
};

/** Reads AGENT_FLAGS but the question. @throws UsageError */
export async function readAgentOptions(flags: Flags): Promise<AgentOptions> {
  const given = (values: Fields): Fields =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  const named = flags.text('recipe');
  return {
    fields: given({
      reference: flags.text('reference'),
      generator: flags.text('generator'),
      max_turns: flags.count('max-turns', { min: 1, max: MAX_AGENT_TURNS }),
      thinking: flags.isOn('thinking') ? true : null,
    }),
    sampling: given({
      temperature: numberOf(flags, 'temperature'),
      top_p: numberOf(flags, 'top-p'),
      seed: flags.count('seed', { min: 0, max: MAX_SEED }),
    }),
    recipe: named === null ? null : await readRecipe(named),
    changes: readChanges(flags.list('set')),
  };
}

/** Its range is the schema's to check. @throws UsageError */
function numberOf(flags: Flags, name: string): number | null {
  const given = flags.text(name);
  if (given === null) return null;
  if (/^\d{1,9}(\.\d{1,9})?$/.test(given)) return Number(given);
  throw new UsageError(`--${name}: expected a number, got "${given}"`);
}

/** About a response that is there already, and what only other families read. */
const SCORING_ONLY: ReadonlySet<string> = new Set(
  Object.keys(scoreRequestSchema.shape).filter((field) => !Object.hasOwn(agentRequestSchema.shape, field)),
);

/** What says how a trajectory is scored, and is refused where nothing says what is right. */
const OF_A_SCORE: ReadonlySet<string> = new Set(['recipe', 'judgments', 'replicate', 'on_judge_failure']);

/**
 * The request of a row, flags winning. A row with a `question` and no `messages` begins a conversation with it; what is
 * about a response that is there already is left out, so that a row made for scoring can be worked on as it is.
 */
export function applyAgentOptions(row: Fields, asked: AgentOptions): Fields {
  const { question } = row;
  const messages = row['messages'] ?? (question === undefined ? undefined : [{ role: 'user', content: question }]);
  const all: Fields = {
    ...withoutFields(row, SCORING_ONLY),
    ...(messages === undefined ? {} : { messages }),
    ...asked.fields,
    ...sampled(row['sampling'], asked.sampling),
  };
  const isScored = Object.hasOwn(all, 'reference') || Object.hasOwn(all, 'tests');
  if (!isScored) return asksForScore(asked) ? all : withoutFields(all, OF_A_SCORE);
  const base = asked.recipe ?? all['recipe'] ?? DEFAULT_RECIPE;
  return { ...all, recipe: typeof base === 'string' || isFields(base) ? changedRecipe(base, asked.changes) : base };
}

/** What is no object is refused as it is. */
function sampled(own: unknown, sampling: Fields): Fields {
  if (Object.keys(sampling).length === 0 || (own !== undefined && !isFields(own))) return {};
  return { sampling: { ...own, ...sampling } };
}

function asksForScore({ recipe, changes }: AgentOptions): boolean {
  return recipe !== null || Object.keys(changes).length > 0;
}

/** Fields that flags set for every row. */
export function agentFieldsSet(asked: AgentOptions): ReadonlySet<string> {
  const fields = new Set(Object.keys(asked.fields));
  if (Object.keys(asked.sampling).length > 0) fields.add('sampling');
  if (asksForScore(asked)) fields.add('recipe');
  return fields;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
