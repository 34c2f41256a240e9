/** The `rubric` kind: all criteria of one rollout in one call, each scored 0, 1 or 2. */
import * as z from 'zod';
import { blockTokens, fitAnswered } from '../../protocol/budget.ts';
import { READER_TEMPLATE } from '../../protocol/frozen-templates.ts';
import type { ReadingKind } from '../../protocol/judgment-kind.ts';
import {
  EVIDENCE_SYSTEM,
  type Evidence,
  evidenceMessages,
  exactObject,
  type JsonSchema,
  REASON_SCHEMA,
  REASON_TOKENS,
  VERDICT_TOKENS,
} from '../../protocol/prompt.ts';
import { entryOf, readAs, readingTemplate } from '../../protocol/reply.ts';
import { dataBlock } from '../../protocol/untrusted.ts';
import { scoreCriteriaLexically } from './lexical-rubric.ts';

/** One criterion as a judge sees it. Polarity and weight stay hidden: they change the reward, not the verdict. */
type JudgedCriterion = {
  /** `c1`…`cn` by position among the row's own criteria followed by the static ones. */
  readonly key: string;
  readonly title?: string;
  readonly description: string;
};

export type RubricRequest = Evidence & {
  readonly kind: 'rubric';
  readonly criteria: readonly JudgedCriterion[];
  /** The judged text with its citation tags. */
  readonly answer: string;
};

/** How far the answer does what the criterion describes: 0 not at all, 1 in part, 2 completely (dr-tulu's scale). */
export type CriterionScore = 0 | 1 | 2;

type RubricVerdicts = {
  readonly kind: 'rubric';
  /** In the order of the request, each key once. */
  readonly criteria: readonly { readonly key: string; readonly score: CriterionScore }[];
};

const TEXTS = {
  rubricTask: [
    'TASK: grade the answer against each criterion below, each on its own merits.',
    'Score how far the answer does what the criterion describes, good or bad: 2 = clearly and completely, 1 = in part, ',
    '0 = not at all. A criterion that describes a fault is scored the same way: 2 = the fault is clearly there.',
    'Give every criterion exactly one entry under its key: first "reason", then "score".',
  ].join('\n'),
} as const;

const replyEntry = z.strictObject({
  reason: z.string(),
  score: z.union([z.literal(0), z.literal(1), z.literal(2)]),
});

function replySchema({ criteria }: Pick<RubricRequest, 'criteria'>): JsonSchema {
  const entry = exactObject({ reason: REASON_SCHEMA, score: { type: 'integer', enum: [0, 1, 2] } });
  return exactObject(Object.fromEntries(criteria.map(({ key }) => [key, entry])));
}

function maxReplyTokens({ criteria }: RubricRequest): number {
  return criteria.length * (REASON_TOKENS + VERDICT_TOKENS) + VERDICT_TOKENS;
}

export const rubric: ReadingKind<RubricRequest, RubricVerdicts> = {
  kind: 'rubric',
  answeredBy: 'reader',
  dependsOnParser: true,
  template: READER_TEMPLATE,
  templateSource: () =>
    readingTemplate(
      { system: EVIDENCE_SYSTEM, ...TEXTS },
      { rubric: replySchema({ criteria: [{ key: 'c1', description: 'd' }] }) },
    ),
  verdictsSchema: z.strictObject({
    kind: z.literal('rubric'),
    criteria: z.array(z.strictObject({ key: z.string(), score: z.literal([0, 1, 2]) })),
  }),
  maxReplyTokens,

  /** The criteria precede the answer, because within a group only the answer differs. */
  prompt(request) {
    return {
      messages: evidenceMessages(request, (nonce) => [
        TEXTS.rubricTask,
        ...request.criteria.map(({ key, title, description }) =>
          dataBlock('criterion', nonce, { key, ...(title === undefined ? {} : { title }) }, description),
        ),
        dataBlock('answer', nonce, {}, request.answer),
      ]),
      schema: { name: 'rubric_verdicts', schema: replySchema(request) },
      max_reply_tokens: maxReplyTokens(request),
    };
  },

  readReply({ criteria }, reply) {
    const schema = z.strictObject(Object.fromEntries(criteria.map(({ key }) => [key, replyEntry])));
    return readAs(schema, reply, (entries) => ({
      kind: 'rubric',
      criteria: criteria.map(({ key }) => ({ key, score: entryOf(entries, key).score })),
    }));
  },

  fit(request, promptTokens, cited) {
    const criteria = request.criteria.map(({ title, description }) => blockTokens(title, description));
    const beside = criteria.reduce((sum, tokens) => sum + tokens, 0);
    return fitAnswered(request, beside, promptTokens, cited);
  },

  answers(request, verdicts) {
    return (
      verdicts.criteria.length === request.criteria.length &&
      request.criteria.every(({ key }, position) => verdicts.criteria[position]?.key === key)
    );
  },

  judgeLexically(request) {
    const scores = scoreCriteriaLexically(request);
    return { kind: 'rubric', criteria: request.criteria.map(({ key }, n) => ({ key, score: scores[n] ?? 0 })) };
  },
};
