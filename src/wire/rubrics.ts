/** `/v1/runs/{id}/rubrics`: the evolving rubrics of the prompts of a run. */
import * as z from 'zod';
import { FAMILY_NAMES } from '../families/composers.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import {
  MAX_CRITERIA,
  MAX_CRITERION_CHARS,
  MAX_CRITERION_WEIGHT,
  MAX_GROUP,
  MAX_RUN_PAGE,
  MAX_TEXT_CHARS,
  MAX_TITLE_CHARS,
} from '../limits.ts';
import type { EditRefusal } from '../rubrics/append.ts';
import { foldLog, type PromptRubrics, setOf } from '../rubrics/evolution.ts';
import {
  type CriterionStatistics,
  criterionStatisticsSchema,
  type EvolutionEvent,
  evolutionEventSchema,
  type WeightedCriterion,
} from '../rubrics/evolution-log.ts';
import {
  EVOLUTION_PRESET_NAMES,
  EVOLUTION_PRESETS,
  type EvolutionRules,
  evolutionRulesSchema,
} from '../rubrics/evolution-rules.ts';
import {
  criterionId,
  polaritySchema,
  rubricSetSchema,
  type SetEntry,
  setEntrySchema,
  setId,
} from '../rubrics/rubric-set.ts';
import { placeIdSchema, runIdSchema, stepSchema } from '../runs/row.ts';
import { pageSize, stepParameter } from './runs.ts';

const countSchema = z.int().min(0);

/** Rules by name or inline. */
export const rulesInputSchema = z
  .union([z.enum(EVOLUTION_PRESET_NAMES), evolutionRulesSchema])
  .describe('A preset (citeward, dr-tulu, open-instruct) or rules.');

export function rulesOf(input: z.infer<typeof rulesInputSchema>): EvolutionRules {
  return typeof input === 'string' ? EVOLUTION_PRESETS[input] : input;
}

const newCriterionSchema = z.strictObject({
  polarity: polaritySchema.describe('negative = the criterion describes a fault.'),
  title: z.string().max(MAX_TITLE_CHARS).exactOptional(),
  description: z.string().min(1).max(MAX_CRITERION_CHARS),
  weight: z.number().positive().max(MAX_CRITERION_WEIGHT).default(1),
});
const newCriteriaSchema = z.array(newCriterionSchema).max(MAX_CRITERIA);
export type NewCriterion = z.infer<typeof newCriterionSchema>;

/** Gives criteria their ids. Of equal criteria the first counts. @param prompt the digest of the question. */
export function weightedCriteria(prompt: string, criteria: readonly NewCriterion[]): WeightedCriterion[] {
  const byId = new Map<string, WeightedCriterion>();
  for (const { weight, ...criterion } of criteria) {
    const id = criterionId(prompt, criterion);
    if (!byId.has(id)) byId.set(id, { id, criterion, weight });
  }
  return [...byId.values()];
}

const groupFields = { step: stepSchema, group: placeIdSchema.describe('The group of samples, as the run names it.') };
const MAX_FAILURE_REASON_CHARS = 200;
const responsesSchema = z.array(sha256Schema).max(MAX_GROUP).default([]);

export const promptStartSchema = z
  .strictObject({
    question: z.string().min(1).max(MAX_TEXT_CHARS).describe('Its SHA-256 names the prompt; it is not stored.'),
    family: z
      .enum(FAMILY_NAMES)
      .exactOptional()
      .describe("The family of the run's recipes; needed only if the run does not exist yet."),
    rules: rulesInputSchema.exactOptional().describe('Default: those of the prompt, citeward for a new one.'),
    criteria: newCriteriaSchema
      .exactOptional()
      .describe("The row's own criteria. Default: those of the prompt, none for a new one."),
    proposal: z
      .strictObject({
        ...groupFields,
        under: sha256Schema.exactOptional().describe('The set that the proposer saw. Default: the set of now.'),
        criteria: newCriteriaSchema,
        judgment: sha256Schema.nullable().default(null).describe('Key of the generation; null = made elsewhere.'),
        responses: responsesSchema.describe('SHA-256 of the responses that the proposer read.'),
      })
      .exactOptional()
      .describe('New criteria from a group. A group proposes once.'),
    failed_generation: z
      .strictObject({
        ...groupFields,
        reason: z.string().min(1).max(MAX_FAILURE_REASON_CHARS).describe('Why, such as judge_timeout.'),
      })
      .exactOptional()
      .describe('In place of a proposal: a generation elsewhere failed. The log has its reason, and the set stays.'),
  })
  .refine(({ proposal, failed_generation }) => proposal === undefined || failed_generation === undefined, {
    path: ['failed_generation'],
    error: 'give a proposal or a failed generation of a group, not both',
  })
  .describe('Starts a prompt unless it is there. Rules and own criteria are fixed with the start.');

export const scoredRequestSchema = z.strictObject({
  ...groupFields,
  set: sha256Schema.describe('The set that the group was scored under.'),
  statistics: z
    .array(criterionStatisticsSchema)
    .min(1)
    .max(MAX_CRITERIA)
    .describe('Of each criterion over the verdicts of the group, in [0, 1]; without missing verdicts.'),
});

export const editRequestSchema = z
  .strictObject({
    set: sha256Schema.describe('The set that you saw; 409 rubrics_stale if it is another one by now.'),
    step: stepSchema.describe('The step from which on the edit counts.'),
    retire: z.array(sha256Schema).max(MAX_CRITERIA).default([]),
    restore: z.array(sha256Schema).max(MAX_CRITERIA).default([]),
    add: newCriteriaSchema
      .default([])
      .describe(
        'New criteria. To edit one, retire it and add the new form. One that the prompt has gets this weight, and is ' +
          'restored if it is inactive.',
      ),
  })
  .refine(({ retire, restore, add }) => retire.length + restore.length + add.length > 0, {
    path: ['retire'],
    error: 'give at least one of retire, restore and add',
  });

export const resumeRequestSchema = z.strictObject({
  step: stepSchema.describe('The last step of the checkpoint: later events no longer count.'),
});

export const resumedSchema = z.strictObject({
  step: stepSchema,
  prompts: countSchema.describe('Prompts that had later events.'),
});

export const promptListQuerySchema = z.strictObject({
  limit: pageSize(MAX_RUN_PAGE, 20),
  after: sha256Schema.exactOptional().describe('`next` of the previous page.'),
});

const summarySchema = z.strictObject({
  prompt: sha256Schema.describe('SHA-256 of the question.'),
  set: sha256Schema,
  persistent: countSchema,
  active: countSchema,
  inactive: countSchema,
  visits: countSchema.describe('Groups whose scores the log has.'),
  failed_generations: countSchema,
  last_step: stepSchema.nullable().describe('null = nothing happened since the start.'),
  started_at: z.iso.datetime(),
  changed_at: z.iso.datetime(),
});

export const promptListSchema = z.strictObject({
  run: runIdSchema,
  prompts: z.array(summarySchema).describe('In the order of their digests.'),
  next: sha256Schema.nullable().describe('For `after`; null = last page.'),
});

export type PromptList = z.infer<typeof promptListSchema>;

export const promptQuerySchema = z.strictObject({
  step: stepParameter.exactOptional().describe('The last step that counts. Default: all.'),
  log: z.enum(['true', 'false']).default('true').describe('false: without the events, for a trainer at each step.'),
});

const criterionStateSchema = setEntrySchema.extend({
  polarity: polaritySchema,
  title: z.string().nullable(),
  description: z.string(),
  visits: countSchema.describe('Groups with at least one verdict of it.'),
  statistics: criterionStatisticsSchema
    .omit({ id: true })
    .extend({ step: stepSchema, group: z.string() })
    .nullable()
    .describe('Of its last such group.'),
});

const loggedEventSchema = z.strictObject({
  n: countSchema,
  at: z.iso.datetime(),
  superseded: z.boolean().describe('Whether the run resumed from an earlier step: the event no longer counts.'),
  entry: evolutionEventSchema,
});

export const promptRubricsSchema = z.strictObject({
  run: runIdSchema,
  prompt: sha256Schema.describe('SHA-256 of the question.'),
  rules: evolutionRulesSchema,
  step: stepSchema.nullable().describe('The last step that counts; null = all.'),
  set: z.strictObject({ id: sha256Schema, entries: rubricSetSchema }).describe('What scores the next group.'),
  persistent: z.array(criterionStateSchema),
  active: z.array(criterionStateSchema).describe('The oldest first.'),
  inactive: z.array(criterionStateSchema).describe('Retired or capped, in the order in which they went.'),
  events: z
    .array(loggedEventSchema)
    .exactOptional()
    .describe('The whole log, whatever `step` is; absent with log=false.'),
});

export type PromptRubricsReply = z.infer<typeof promptRubricsSchema>;

export const observationSchema = z.strictObject({
  prompt: sha256Schema,
  recorded: z.boolean().describe('false: the log has it from this group already, and nothing changed.'),
  stale: z.boolean().describe('Whether the set had changed since the one that the request names.'),
  set: sha256Schema.describe('The set of now.'),
  events: z.array(evolutionEventSchema).describe('What the log gained.'),
});

export const startedSchema = z.strictObject({
  started: z.boolean().describe('false: the prompt was there.'),
  proposal: observationSchema.nullable().describe('null = the request has none.'),
  rubrics: promptRubricsSchema.omit({ events: true }),
});

type LoggedEvent = {
  readonly n: number;
  readonly at: number;
  readonly superseded: boolean;
  readonly entry: EvolutionEvent;
};

/** How a prompt is shown: through a step, with or without its log. */
type PromptView = { readonly step?: number | null; readonly log?: 'true' | 'false' };

/** A prompt as replies show it. */
export function promptReplyOf(
  run: string,
  prompt: string,
  { rules, events }: { readonly rules: EvolutionRules; readonly events: readonly LoggedEvent[] },
  { step = null, log: isLogged = 'true' }: PromptView = {},
): PromptRubricsReply {
  const log = events.flatMap(({ superseded, entry }) => (superseded ? [] : [entry]));
  const state = foldLog(log, rules, step ?? undefined);
  const seen = seenBy(log, step);
  const entries = [...setOf(state)];
  const shown = (list: readonly SetEntry[]) => list.map((entry) => criterionState(entry, state, seen));
  return {
    ...{ run, prompt, rules, step },
    set: { id: setId(entries), entries },
    persistent: shown(state.persistent),
    active: shown(state.active),
    inactive: shown(state.inactive),
    ...(isLogged === 'false'
      ? {}
      : { events: events.map((event) => ({ ...event, at: new Date(event.at).toISOString() })) }),
  };
}

type Seen = { readonly visits: number; readonly last: z.infer<typeof criterionStateSchema>['statistics'] };

/** What groups saw of each criterion. */
function seenBy(log: readonly EvolutionEvent[], through: number | null): ReadonlyMap<string, Seen> {
  const seen = new Map<string, Seen>();
  for (const event of log) {
    if (event.event !== 'scored' || (through !== null && event.step > through)) continue;
    const { step, group } = event;
    for (const { id, ...figures } of event.statistics) {
      if (figures.n > 0) seen.set(id, { visits: (seen.get(id)?.visits ?? 0) + 1, last: { ...figures, step, group } });
    }
  }
  return seen;
}

function criterionState(
  entry: SetEntry,
  { criteria }: PromptRubrics,
  seen: ReadonlyMap<string, Seen>,
): z.infer<typeof criterionStateSchema> {
  const known = criteria.get(entry.id);
  if (known === undefined) throw new Error('promptReplyOf: a log names a criterion that nothing proposed');
  const { polarity, title = null, description } = known.criterion;
  const { visits, last } = seen.get(entry.id) ?? { visits: 0, last: null };
  return { ...entry, polarity, title, description, visits, statistics: last };
}

/** Problems of statistics that no verdicts can have. */
export function statisticsProblem(statistics: readonly CriterionStatistics[]): string | null {
  const ids = new Set(statistics.map(({ id }) => id));
  if (ids.size !== statistics.length) return 'expected each criterion once';
  const isWhole = statistics.every(
    ({ n, mean, std }) => (n === 0) === (mean === null) && n < 2 === (std === null) && (std === null || std <= 0.5),
  );
  return isWhole ? null : 'expected mean = null without verdicts, and std = null below two, at most 0.5';
}

const EDIT_PROBLEMS: Readonly<Record<Exclude<EditRefusal['why'], 'stale'>, readonly [string, string]>> = {
  not_in_set: ['retire', 'expected ids of the set; GET …/rubrics/{prompt} lists it'],
  not_inactive: ['restore', 'expected ids of inactive criteria; GET …/rubrics/{prompt} lists them'],
  too_many: ['add', `expected at most ${MAX_CRITERIA} criteria in the set`],
};

/** The field of an edit that is refused, and why. */
export function editProblem(why: Exclude<EditRefusal['why'], 'stale'>): {
  readonly path: readonly string[];
  readonly message: string;
} {
  const [field, message] = EDIT_PROBLEMS[why];
  return { path: [field], message };
}
