/** Says in words how a reward came about: its parts, what cost points, and what was found. */
import * as z from 'zod';
import { listed, quotedLine, quotedName } from '../text/foreign-line.ts';

const amount = z.number().nullable();

/** What an explanation reads of a score's reply, in every family and also where the reply was recorded without text. */
const explainedSchema = z.object({
  reward: amount,
  reason: z.string().nullish(),
  components: z.record(z.string(), z.object({ value: amount })),
  contributions: z.record(z.string(), z.number()).nullish(),
  details: z.record(z.string(), z.unknown()).optional(),
  criteria: z
    .array(
      z.object({
        title: z.string().optional(),
        description: z.string().optional(),
        polarity: z.string().optional(),
        score: amount.optional(),
      }),
    )
    .optional(),
  claims: z.array(z.object({ support: amount.optional(), quote: z.string().nullish() })).optional(),
  finding_counts: z.record(z.string(), z.number()).optional(),
  judgments: z.array(z.object({ model: z.string().nullable() })).optional(),
  recipe: z
    .object({ name: z.string().nullable(), reward_range: z.tuple([z.number().nullable(), z.number().nullable()]) })
    .optional(),
});

type Explained = z.infer<typeof explainedSchema>;

/** A criterion with a long title or description is named by its beginning. */
const MAX_CRITERION_CHARS = 120;

/**
 * Explains the reply of a score, line by line. A model may read the text, so names and criteria are quoted lines.
 * @param reply the reply, or the report that a run keeps of it.
 * @returns `null` if this is no reply of a score.
 * @example explainReward({ reward: null, reason: 'judge_timeout', components: {} }) // 'No reward: judge_timeout. …'
 */
export function explainReward(reply: unknown): string | null {
  const parsed = explainedSchema.safeParse(reply);
  if (!parsed.success) return null;
  const read = parsed.data;
  return [
    rewardLine(read),
    ...listed(partLines(read), asIs),
    ...listed(criterionLines(read), asIs),
    ...claimLines(read),
    ...otherLines(read),
  ].join('\n');
}

function rewardLine({ reward, reason, recipe }: Explained): string {
  const under =
    recipe === undefined ? '' : ` under ${recipe.name === null ? 'an inline recipe' : quotedName(recipe.name)}`;
  if (reward === null)
    return `No reward${under}: ${reason == null ? 'unknown reason' : quotedName(reason)}. A missing reward is not 0; leave the sample out.`;
  const [least, most] = recipe?.reward_range ?? [null, null];
  const range = least === null || most === null ? '' : `, in ${least} to ${most}`;
  return `Reward ${rounded(reward)}${under}${range}.`;
}

function partLines({ components, contributions }: Explained): string[] {
  const values = Object.entries(components).map(([name, { value }]) => {
    const made = contributions?.[name];
    return `- ${quotedName(name)}: ${value === null ? 'none' : rounded(value)}${made === undefined ? '' : `, adds ${rounded(made)}`}`;
  });
  const others = Object.entries(contributions ?? {}).filter(([name]) => !(name in components));
  return [...values, ...others.map(([name, made]) => `- ${quotedName(name)}: adds ${rounded(made)}`)];
}

/** The criteria that cost points or have no verdict: a positive one below full, a negative one above 0. */
function criterionLines({ criteria = [] }: Explained): string[] {
  return criteria.flatMap(({ title, description, polarity, score }, index) => {
    const name = quotedLine(title ?? description ?? `criterion ${index + 1}`, MAX_CRITERION_CHARS);
    if (score === undefined) return [];
    if (score === null) return [`- no verdict on: ${name}`];
    if (polarity === 'negative') return score > 0 ? [`- fault found (${score} of 2): ${name}`] : [];
    return score < 2 ? [`- ${score === 0 ? 'not met' : 'partly met'} (${score} of 2): ${name}`] : [];
  });
}

function claimLines({ claims = [] }: Explained): string[] {
  const weak = claims.flatMap(({ support }, index) =>
    typeof support === 'number' && support < 1 ? [`claim ${index + 1} (${rounded(support)})`] : [],
  );
  const quotes = claims.flatMap(({ quote }, index) => (quote === 'unverified' ? [`claim ${index + 1}`] : []));
  return [
    ...(weak.length === 0 ? [] : [`- not fully supported by the cited sources: ${listed(weak, asIs).join(', ')}`]),
    ...(quotes.length === 0 ? [] : [`- the judge's quote is not in the source: ${listed(quotes, asIs).join(', ')}`]),
  ];
}

function otherLines({ reward, finding_counts = {}, details = {}, judgments = [] }: Explained): string[] {
  const found = Object.entries(finding_counts).filter(([, count]) => count > 0);
  const { vacuous_credit, own_positives, padding } = details;
  const models = [...new Set(judgments.flatMap(({ model }) => model ?? []))];
  return [
    ...(found.length === 0
      ? []
      : [`- findings: ${listed(found, ([name, count]) => `${quotedName(name)} ${count}`).join(', ')}`]),
    ...(typeof vacuous_credit === 'number' && vacuous_credit > 0
      ? [`- ${rounded(vacuous_credit)} of the rubric score comes from negative criteria alone`]
      : []),
    ...(typeof own_positives === 'number' && own_positives < 1
      ? [`- citations, citation discipline and avoided faults count ${rounded(own_positives)}: the own criteria met`]
      : []),
    ...(own_positives === null && reward !== 0
      ? ['- the row has no positive criteria of its own, which could scale citations']
      : []),
    ...(typeof padding === 'number' && padding > 0
      ? [`- padding lowers the citation score to ${rounded(1 - padding)} of it`]
      : []),
    ...(models.length === 0 ? [] : [`- judged by ${listed(models, quotedName).join(', ')}`]),
  ];
}

const asIs = (text: string): string => text;

function rounded(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
