/**
 * The short reply of a score (`detail: "reward"`): what a trainer reads. It leaves out the reports on criteria, claims
 * and single judgments, which are then not built; the same request with `detail: "full"` returns them from the stored
 * judgments.
 */
import * as z from 'zod';
import { canonicalJson } from '../digest.ts';
import { rewardFields } from '../family/score.ts';
import { judgmentKindSchema, samplingSchema, sha256Schema } from '../judgments/judgment-schema.ts';
import type { ObtainedJudgment } from '../judgments/obtain.ts';
import { panelReportSchema } from './panel-report.ts';
import { receiptSchema } from './receipt-schema.ts';
import { failureSchema, madeByFields, reportFailure } from './score-reply.ts';
import type { ScoredRollout } from './score-rollouts.ts';

const count = z.int().min(0);

const judgeUseSchema = z
  .strictObject({
    kind: judgmentKindSchema,
    model: z.string(),
    template: z.string(),
    sampling: samplingSchema,
    issuer: sha256Schema.nullable().describe('Key id of the verified signatures; null = unsigned or unknown.'),
    judgments: count,
    cached: count.describe('Judgments that were not made for this request.'),
    stored: count.describe('Judgments that the store has, so that they can be replayed.'),
    cut: count.describe('Judgments whose judge saw only a part of the sources, the answer or its claims.'),
  })
  .describe('The judgments that one judge made under one template.');

/** The judges behind a score or a group. */
export const judgesSchema = z.array(judgeUseSchema);

export type JudgeUse = z.infer<typeof judgeUseSchema>;

/** The fields of one score besides its reward. */
export const rewardScoreFields = {
  status: rewardFields.status,
  reason: rewardFields.reason,
  depends_on: rewardFields.depends_on,
  final: z
    .literal(false)
    .exactOptional()
    .describe('Present if the recipe divides by the maximum of the group and no group was given.'),
  vacuous_credit: z
    .number()
    .exactOptional()
    .describe(
      'Present if above 0: the rubric score of an answer that meets no criterion, from negative criteria alone.',
    ),
  components: z
    .record(z.string(), z.number().nullable())
    .describe('Value of each component; null = nothing to score, or unscored.'),
  contributions: madeByFields.contributions,
  failure: failureSchema.exactOptional().describe('The failure behind a null reward.'),
  panel: panelReportSchema.exactOptional(),
  receipt: receiptSchema.exactOptional().describe('Present if the request asks for a receipt.'),
};

type RewardScore = z.infer<z.ZodObject<typeof rewardScoreFields>>;

/** The short form of one score, without its reward. */
export function rewardScore({
  score,
  contributions,
  failure,
  panel,
  receipt,
}: Pick<ScoredRollout, 'score' | 'contributions' | 'failure' | 'panel' | 'receipt'>): RewardScore {
  const { status, reason, depends_on, details, components } = score;
  const final: unknown = Reflect.get(details, 'final');
  const vacuous: unknown = Reflect.get(details, 'vacuous_credit');
  return {
    status,
    reason,
    ...(depends_on === undefined ? {} : { depends_on: [...depends_on] }),
    ...(final === false ? { final } : {}),
    ...(typeof vacuous === 'number' && vacuous > 0 ? { vacuous_credit: vacuous } : {}),
    components: Object.fromEntries(Object.entries(components).map(([name, { value }]) => [name, value])),
    contributions,
    ...(failure === null ? {} : { failure: reportFailure(failure) }),
    ...(panel === null ? {} : { panel }),
    ...(receipt === null ? {} : { receipt }),
  };
}

/** Adds up the judges of several replies, in the order of the first use of each. */
export function mergedJudges(replies: readonly (readonly JudgeUse[])[]): JudgeUse[] {
  const uses = new Map<string, JudgeUse>();
  for (const one of replies.flat()) {
    const { kind, model, template, sampling, issuer } = one;
    const key = canonicalJson({ kind, model, template, sampling, issuer });
    const known = uses.get(key);
    if (known === undefined) {
      uses.set(key, { ...one });
      continue;
    }
    for (const count of ['judgments', 'cached', 'stored', 'cut'] as const) known[count] += one[count];
  }
  return [...uses.values()];
}

/** Counts judgments by their judge, in the order of the first one of each. Failed judgments are left out. */
export function judgesOf(members: readonly { readonly obtained: readonly ObtainedJudgment[] }[]): JudgeUse[] {
  const uses = new Map<string, JudgeUse>();
  for (const one of members.flatMap(({ obtained }) => obtained)) {
    const { kind, preimage, outcome, issuer, stored } = one;
    if (!outcome.ok || preimage === null) continue;
    const { model, template, sampling } = preimage.judge;
    const identity = { kind, model, template, sampling: sampling === null ? null : { ...sampling }, issuer };
    const key = canonicalJson(identity);
    const use = uses.get(key) ?? { ...identity, judgments: 0, cached: 0, stored: 0, cut: 0 };
    use.judgments++;
    if (outcome.cached) use.cached++;
    if (stored) use.stored++;
    if (one.cuts.length > 0 || one.answer_cut !== null || one.entries_cut !== null) use.cut++;
    uses.set(key, use);
  }
  return [...uses.values()];
}
