/** `POST /v1/score`: scores one rollout under a recipe and returns the reward with all its parts. */
import * as z from 'zod';
import { offsetsSchema } from '../citations/finding-schema.ts';
import { replySchemaWith } from '../families/registry.ts';
import { CREDIT_BY } from '../family/credit.ts';
import type { Rollout } from '../family/rollout.ts';
import {
  checkMessages,
  hasNotBothOrigins,
  hasOneOutput,
  NOT_BOTH_ORIGINS,
  ONE_OUTPUT,
  oneOriginRule,
  oneOutputRule,
  responseFields,
  rolloutOf,
  sharedFields,
} from '../family/rollout-schema.ts';
import { memberFields } from '../family/vote-schemas.ts';
import { type MemberOfPanel, memberName } from '../judgments/panel.ts';
import { MAX_JUDGES_IN_TURN, MAX_NAME_CHARS, MAX_PANEL_MEMBERS, MAX_REPLICATE } from '../limits.ts';
import { recordedSetSchema } from '../rubrics/recorded-set.ts';
import { outcomeFields, type RolloutOutcome } from '../runs/rollout-counts.ts';
import { placeIdSchema, type RunPlacement, recordedStepSchema, runIdSchema, stepSchema } from '../runs/row.ts';
import { madeByFields } from '../scoring/score-reply.ts';
import { evolutionNeedsGroup } from './evolution.ts';

/** A recipe by name or inline. `resolveRecipe` validates the content, because it knows the families. */
export const recipeInputSchema = z.union([z.string().max(MAX_NAME_CHARS), z.record(z.string(), z.unknown())]);

const judgeNameSchema = z.string().min(1).max(MAX_NAME_CHARS);

/** A member of a panel by its judge, or by its judge and which independent judgment of it. */
const memberSchema = z.union([
  judgeNameSchema,
  z.strictObject({ judge: judgeNameSchema, replicate: memberFields.replicate.default(0) }),
]);

export const panelSchema = z
  .strictObject({
    members: z
      .array(memberSchema)
      .min(2)
      .max(MAX_PANEL_MEMBERS)
      .refine((members) => new Set(members.map(nameOfMember)).size === members.length, {
        error: 'expected members that differ; for several judgments of one judge give each its own replicate',
      }),
  })
  .describe(
    'Several judges, each of which judges everything. The fields vote and voters of the recipe decide how their ' +
      'verdicts become one. A verdict that depends on a missing member is unscored.',
  );

type MemberInput = z.infer<typeof memberSchema>;

function memberOf(member: MemberInput): MemberOfPanel {
  return typeof member === 'string' ? { judge: member, replicate: 0 } : member;
}

function nameOfMember(member: MemberInput): string {
  return memberName(memberOf(member));
}

/** The members that a request names; `null` = one judge. */
export function requestedPanel({
  judges,
}: {
  readonly judges?: z.infer<typeof panelSchema>;
}): readonly MemberOfPanel[] | null {
  return judges === undefined ? null : judges.members.map(memberOf);
}

/** The rules of several judges, as options of `refine`. */
export function hasOneWayOfJudging({
  judge,
  judges,
}: {
  readonly judge?: unknown;
  readonly judges?: unknown;
}): boolean {
  return judge === undefined || judges === undefined;
}
export const oneWayOfJudging = {
  path: ['judges'],
  error: 'give judge or judges: judge names fallbacks for one another, judges are combined by a vote',
};
export function hasOwnReplicates({
  judges,
  replicate,
}: {
  readonly judges?: unknown;
  readonly replicate: number;
}): boolean {
  return judges === undefined || replicate === 0;
}
export const ownReplicates = { path: ['replicate'], error: 'not with judges: give each member its replicate' };

/** The fields of a request that select how a rollout or a group is scored. */
export const scoringFields = {
  recipe: recipeInputSchema,
  judge: z
    .union([judgeNameSchema, z.array(judgeNameSchema).min(1).max(MAX_JUDGES_IN_TURN)])
    .exactOptional()
    .describe(
      'Name of a configured judge. A list is a fallback order: the next judge judges everything if the one before it ' +
        'fails. Each judgment names the model that made it.',
    ),
  judges: panelSchema.exactOptional(),
  judgments: z
    .enum(['use', 'only', 'skip'])
    .default('use')
    .describe(
      'use: stored judgments, or new ones. only: stored judgments, otherwise 409. skip: no judging, reward null.',
    ),
  replicate: z
    .int()
    .min(0)
    .max(MAX_REPLICATE)
    .default(0)
    .describe('Selects another independent judgment of the same request.'),
  explain: z
    .boolean()
    .default(false)
    .describe('dr-tulu only: adds the score under the other compat mode, which can need further judgments.'),
  store_reasons: z
    .boolean()
    .default(false)
    .describe(
      "Keeps the judge's reasons for 30 days, and with run until the run is deleted, and shows them in `judgments`. They " +
        'are no part of a judgment, so keys, receipts and replays stay the same.',
    ),
  credit: z
    .enum(CREDIT_BY)
    .exactOptional()
    .describe(
      'Adds the reward as shares, which sum to it exactly: of the claims with their spans, or of the turns of messages ' +
        'whose results the claims cite. Keys, receipts, records and replays stay the same.',
    ),
  offsets: offsetsSchema,
  receipt: z.boolean().default(false).describe('Whether to sign the reward. 422 if the deployment has no ISSUER_KEY.'),
  detail: z
    .enum(['full', 'reward'])
    .default('full')
    .describe(
      'full: all reports. reward: the reward, why it is missing, its components and the judges, as a trainer reads ' +
        'them; smaller and faster.',
    ),
};

export const onJudgeFailureSchema = z
  .enum(['error', 'null'])
  .describe('Effect of a failed judgment that the reward needs: error = 503, null = 200 with reward null.');

/** The longest wait of one request, in seconds: longer than any judge call. */
const MAX_DEADLINE_S = 900;

const DEADLINE =
  'How long the request waits for its judges, in seconds; then it is 503 judge_running, and a retry joins their calls. ' +
  'Default: 60, and 95 for several judges in turn. Proxies may end a longer request.';

export const deadlineSchema = z.number().min(1).max(MAX_DEADLINE_S).describe(DEADLINE);

/** The same in a query. */
export const deadlineParameter = z.coerce
  .number()
  .pipe(deadlineSchema)
  .meta({ ...{ type: 'number', minimum: 1, maximum: MAX_DEADLINE_S }, description: DEADLINE });

export const runPlaceIdSchema = z.union([placeIdSchema, z.int().min(0)]).describe('A number is stored as its digits.');

const rolloutRunSchema = z
  .strictObject({
    id: runIdSchema,
    step: recordedStepSchema,
    group: runPlaceIdSchema.describe("The trainer's name of the prompt; all samples of the prompt form one group."),
    sample: runPlaceIdSchema,
  })
  .describe('Records the rollout in the ledger of a run, and measures everything that the family measures.');

export const storeTextSchema = z
  .boolean()
  .default(false)
  .describe(
    'With run: also keeps the text of the rollout (question, response, tool output, …) until the run is deleted.',
  );

/** The rule that only recorded rollouts keep text, as options of `refine`. */
export const textNeedsRun = { path: ['store_text'], error: 'only with run: the text is kept in the run' };

/** The rule that outcomes are kept in a run, as options of `refine`. */
export const outcomeNeedsRun = { path: ['outcome'], error: 'only with run: outcome and metrics are kept in the run' };

/** Whether a request reports an outcome or metrics of a sample. */
export function hasOutcome({ outcome, metrics }: RolloutOutcome): boolean {
  return outcome !== undefined || metrics !== undefined;
}

/** What a request reports of a sample. */
export function reportedOutcome({ outcome, metrics }: RolloutOutcome): RolloutOutcome {
  return { ...(outcome === undefined ? {} : { outcome }), ...(metrics === undefined ? {} : { metrics }) };
}

export const scoreRequestSchema = z
  .strictObject({
    ...sharedFields,
    ...responseFields,
    ...scoringFields,
    on_judge_failure: onJudgeFailureSchema.default('error'),
    deadline_s: deadlineSchema.exactOptional(),
    run: rolloutRunSchema.exactOptional(),
    store_text: storeTextSchema,
    ...outcomeFields,
    evolution: z.unknown().optional().describe('Refused: a rubric evolves by whole groups, see POST /v1/groups.'),
  })
  .refine(({ evolution }) => evolution === undefined, evolutionNeedsGroup)
  .refine(hasNotBothOrigins, oneOriginRule)
  .refine(({ run, store_text }) => run !== undefined || !store_text, textNeedsRun)
  .refine(({ run, ...reported }) => run !== undefined || !hasOutcome(reported), outcomeNeedsRun)
  .refine(hasOneOutput, oneOutputRule)
  .refine(hasOneWayOfJudging, oneWayOfJudging)
  .refine(hasOwnReplicates, ownReplicates)
  .check(checkMessages)
  .meta({ ...NOT_BOTH_ORIGINS, ...ONE_OUTPUT });

export type ScoreRequest = z.infer<typeof scoreRequestSchema>;

/** The rollout of a request. */
export function requestedRollout(request: ScoreRequest): Rollout {
  const { outcome: _outcome, metrics: _metrics, ...fields } = rolloutFieldsOf(request);
  return rolloutOf(fields);
}

type Options = keyof typeof scoringFields | 'on_judge_failure' | 'deadline_s' | 'run' | 'store_text' | 'evolution';

/** The fields of a request beside those that say how it is scored and where it is recorded. */
export function rolloutFieldsOf<R extends Readonly<Partial<Record<Options, unknown>>>>(request: R): Omit<R, Options> {
  const {
    recipe: _recipe,
    judge: _judge,
    judges: _judges,
    judgments: _judgments,
    replicate: _replicate,
    explain: _explain,
    credit: _credit,
    receipt: _receipt,
    detail: _detail,
    offsets: _offsets,
    store_reasons: _storeReasons,
    on_judge_failure: _onJudgeFailure,
    deadline_s: _deadline,
    run: _run,
    store_text: _storeText,
    evolution: _evolution,
    ...fields
  } = request;
  return fields;
}

/** Where the rollout of a request is recorded; `null` = nowhere. */
export function requestedPlacement({
  run,
  store_text,
  ...request
}: Pick<ScoreRequest, 'run' | 'store_text' | keyof RolloutOutcome>): RunPlacement | null {
  if (run === undefined) return null;
  const { id, step, group, sample } = run;
  const reported = [reportedOutcome(request)];
  return { run: id, step, group: String(group), samples: [String(sample)], reported, grouping: 'given', store_text };
}

export const runRecordSchema = z
  .strictObject({
    id: runIdSchema,
    step: stepSchema.nullable(),
    group: placeIdSchema,
    sample: placeIdSchema,
    attempt: z.int().min(0).describe('From 0; other content at the same place is a new attempt. The latest counts.'),
    status: z
      .enum(['recorded', 'unchanged'])
      .describe('unchanged: the ledger already has the same content, observed at least as completely.'),
  })
  .describe('The place of the rollout in the ledger of its run.');

/** The place of a recorded rollout, and whether recording changed the ledger. */
export type RunRecord = z.infer<typeof runRecordSchema>;

/** The reply: one shape for each recipe family, told apart by `family`. */
export const scoreResponseSchema = replySchemaWith({
  ...madeByFields,
  run: runRecordSchema.exactOptional(),
  rubric_set: recordedSetSchema.exactOptional(),
});

/** The reply of `POST /v1/score`, by family. */
export type ScoreResponse = z.infer<typeof scoreResponseSchema>;
