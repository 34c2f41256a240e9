/**
 * The reply of a score: what its family reports, the judgments behind it, the recipe and the receipt. A reply on the
 * wire also names the run in which it was recorded (src/wire/score.ts).
 */
import * as z from 'zod';
import { indexSchema } from '../citations/finding-schema.ts';
import { citedAnswerReportSchema } from '../citations/formats/report.ts';
import type { FamilyReply } from '../families/registry.ts';
import { judgmentKindSchema, samplingSchema, sha256Schema, tokenUsageSchema } from '../judgments/judgment-schema.ts';
import type { ObtainedJudgment } from '../judgments/obtain.ts';
import { JUDGE_FAILURE_REASONS, type JudgeFailure } from '../judgments/protocol/failure.ts';
import { MAX_REASON_CHARS } from '../judgments/protocol/prompt.ts';
import { type JudgmentReasons, MAX_JUDGMENT_REASON_CHARS } from '../judgments/reasons.ts';
import { trajectoryReportSchema } from '../trajectory/report.ts';
import { creditSchema } from './credit.ts';
import { panelReportSchema } from './panel-report.ts';
import { receiptSchema } from './receipt-schema.ts';

export const failureSchema = z.strictObject({
  reason: z.enum(JUDGE_FAILURE_REASONS),
  detail: z.string(),
  retryable: z.boolean(),
});

const reasonsSchema = z
  .strictObject({
    status: z
      .enum(['kept', 'not_kept', 'not_given'])
      .describe(
        'not_kept: the judgment was made without store_reasons, or its reasons have expired. not_given: the judge ' +
          'gives none, such as the lexical judge.',
      ),
    entries: z.array(
      z.strictObject({
        of: z.enum(['criteria', 'claims', 'statements', 'answer']).describe('The list of the reply.'),
        index: indexSchema.describe('Index in that list, which for `answer` is 0.'),
        reason: z.string().max(MAX_REASON_CHARS).describe('Text of the judge, which no one has checked.'),
      }),
    ),
    left_out: indexSchema.describe('Reasons beyond max_chars, which are not kept.'),
    max_chars: indexSchema.describe('Most characters of all reasons of one judgment.'),
  })
  .describe('Only with store_reasons: why the judge gave its verdicts, in its words.');

const judgmentReportSchema = z.strictObject({
  kind: judgmentKindSchema,
  judge: z.string().exactOptional().describe('With several judges: the member of the panel that was asked.'),
  key: sha256Schema.nullable().describe('null = no judge is configured, or the request is too long for it.'),
  cached: z.boolean(),
  stored: z.boolean().describe('Whether the store has the judgment, so that it can be replayed.'),
  model: z.string().nullable(),
  template: z.string().nullable(),
  sampling: samplingSchema,
  issuer: sha256Schema
    .nullable()
    .describe('Key id of the verified signature; null = unsigned, or signed with a key that is unknown here.'),
  cuts: z
    .array(z.strictObject({ source: indexSchema, kept_chars: indexSchema, chars: indexSchema }))
    .describe('Sources that were cut to their beginning to fit into the context of the judge. Part of the key.'),
  answer_cut: z
    .strictObject({ kept_chars: indexSchema, chars: indexSchema })
    .exactOptional()
    .describe('The answer alone exceeds the context of the judge, which saw its beginning. Part of the key.'),
  entries_cut: z
    .strictObject({ judged: indexSchema, entries: indexSchema })
    .exactOptional()
    .describe(
      'Claims and statements of the policy exceed the context of the judge, which was asked about `judged` of the ' +
        '`entries`, in order. The others count as not supported. 0 judged: the judge was not asked. Part of the key.',
    ),
  usage: tokenUsageSchema.nullable().describe('Token usage of the original call, also for cached judgments.'),
  judged_at: z.string().nullable(),
  latency_ms: z.number().min(0).nullable().describe('Latency within this request, in milliseconds.'),
  failure: failureSchema.nullable().describe('Why the judgment failed; null = it did not.'),
  store_problem: failureSchema.nullable().describe('Failure of the store, although the judgment was obtained.'),
  reasons: reasonsSchema.exactOptional(),
});

export const recipeReportSchema = z.strictObject({
  name: z.string().nullable().describe('null for an inline recipe.'),
  digest: sha256Schema,
  reward_range: z
    .tuple([z.number().nullable(), z.number().nullable()])
    .describe('Smallest and largest reward that the recipe can give; null = unbounded.'),
});

/** The fields of every reply besides the family's report. */
export const madeByFields = {
  contributions: z
    .record(z.string(), z.number())
    .nullable()
    .describe(
      'The reward as a sum, after gates, penalties and scale: its numbers add up to the reward, and every reply of a ' +
        'recipe has the same names. A reward that is no sum is one of them. null = unscored.',
    ),
  judgments: z.array(judgmentReportSchema),
  recipe: recipeReportSchema,
  receipt: receiptSchema.nullable().describe('null = the request did not ask for a receipt.'),
  trajectory: trajectoryReportSchema.exactOptional(),
  cited_answer: citedAnswerReportSchema.exactOptional(),
  panel: panelReportSchema.exactOptional(),
  credit: creditSchema.exactOptional(),
};

type JudgmentReport = z.infer<typeof judgmentReportSchema>;
export type MadeBy = z.infer<z.ZodObject<typeof madeByFields>>;

/** The score of one rollout with its judgments, recipe and receipt. */
export type ScoreReply = FamilyReply & MadeBy;

/** One judgment as the reply shows it. */
export function reportJudgment(obtained: ObtainedJudgment): JudgmentReport {
  const { kind, member, key, preimage, cuts, answer_cut, entries_cut, outcome, issuer, stored, storeProblem, reasons } =
    obtained;
  return {
    kind,
    ...(member === undefined ? {} : { judge: member }),
    key,
    cached: outcome.ok && outcome.cached,
    stored,
    model: preimage?.judge.model ?? null,
    template: preimage?.judge.template ?? null,
    sampling: preimage === null || preimage.judge.sampling === null ? null : { ...preimage.judge.sampling },
    issuer,
    cuts: cuts.map((cut) => ({ ...cut })),
    ...(answer_cut === null ? {} : { answer_cut: { ...answer_cut } }),
    ...(entries_cut === null
      ? {}
      : { entries_cut: { judged: entries_cut.judged.length, entries: entries_cut.entries } }),
    usage: outcome.ok ? outcome.judgment.usage : null,
    judged_at: outcome.ok ? outcome.judgment.judged_at : null,
    latency_ms: outcome.ok ? outcome.latency_ms : null,
    failure: outcome.ok ? null : reportFailure(outcome.failure),
    store_problem: storeProblem === null ? null : reportFailure(storeProblem),
    ...(reasons === undefined ? {} : { reasons: reportReasons(reasons) }),
  };
}

function reportReasons(reasons: JudgmentReasons): z.infer<typeof reasonsSchema> {
  const max_chars = MAX_JUDGMENT_REASON_CHARS;
  if (reasons.status !== 'kept') return { status: reasons.status, entries: [], left_out: 0, max_chars };
  const { status, entries, left_out } = reasons;
  return { status, entries: entries.map((entry) => ({ ...entry })), left_out, max_chars };
}

/** A failure as replies show it. */
export function reportFailure({ reason, detail, retryable }: JudgeFailure): {
  reason: JudgeFailure['reason'];
  detail: string;
  retryable: boolean;
} {
  return { reason, detail, retryable };
}
