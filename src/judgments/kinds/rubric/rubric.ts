/** The `rubric` kind: criteria of one rollout, each scored 0, 1 or 2. `rubric-calls.ts` splits them into calls. */
import * as z from 'zod';
import { dataBlock } from '../../../text/untrusted.ts';
import type { Asking } from '../../protocol/asking.ts';
import { blockTokens, fitAnswered } from '../../protocol/budget.ts';
import type { ReadingKind } from '../../protocol/judgment-kind.ts';
import {
  BETWEEN_PARTS,
  EVIDENCE_SYSTEM,
  type Evidence,
  evidenceBlocks,
  evidenceMessages,
  exactObject,
  type JsonSchema,
  type JudgePrompt,
  messages,
  REASON_SCHEMA,
  REASON_TOKENS,
  VERDICT_TOKENS,
} from '../../protocol/prompt.ts';
import { entryOf, readEntries, readingTemplate } from '../../protocol/reply.ts';
import { type CriterionReply, filledTemplate, type OwnTemplate } from '../../protocol/template.ts';
import { estimateTokens } from '../../protocol/token-estimate.ts';
import { createQuoteCheck, type QuoteEvidence } from './answer-quote.ts';
import { scoreCriteriaLexically } from './lexical-rubric.ts';
import { EVIDENCE_TEXT, rubricTemplate, templateSystem } from './rubric-templates.ts';

/**
 * One criterion as a judge sees it. Polarity and weight stay hidden: they change the reward, not the verdict. The judge
 * knows a criterion as `criterionKey` of its index in the request, so a criterion asked alone has the same judgment key
 * whatever other criteria its row has.
 */
type JudgedCriterion = { readonly title?: string; readonly description: string };

export type RubricRequest = Evidence & {
  readonly kind: 'rubric';
  readonly criteria: readonly JudgedCriterion[];
  /** The judged text with its citation tags. */
  readonly answer: string;
  readonly asking?: Asking;
};

/** How far the answer does what the criterion describes: 0 not at all, 1 in part, 2 completely (dr-tulu's scale). */
export type CriterionScore = 0 | 1 | 2;

type RubricVerdicts = {
  readonly kind: 'rubric';
  /** One score for each criterion of the request, in order; no key occurs twice. */
  readonly criteria: readonly CriterionVerdict[];
};

/** `evidence`: present if the judge was asked to quote the answer, and gave a score above 0. */
export type CriterionVerdict = {
  readonly key: string;
  readonly score: CriterionScore;
  readonly evidence?: QuoteEvidence;
};

/** Returns the key by which a judge knows a criterion: `c1` for index 0, `c2` for index 1, and so on. */
export function criterionKey(position: number): string {
  return `c${position + 1}`;
}

const TEXTS = {
  rubricTask: [
    'TASK: grade the answer against each criterion below, each on its own merits.',
    'Score how far the answer does what the criterion describes, good or bad: 2 = clearly and completely, 1 = in part, ',
    '0 = not at all. A criterion that describes a fault is scored the same way: 2 = the fault is clearly there.',
    'Give every criterion exactly one entry under its key: first "reason", then "score".',
  ].join('\n'),
} as const;

const MAX_QUOTE_CHARS = 500;
const QUOTE_TOKENS = 110;

/** One entry of a reply. `quote`: empty unless one was asked for. */
type ReplyEntry = { readonly reason: string; readonly score: CriterionScore; readonly quote: string };

const quote = z.string();
const scoreEntry = z.strictObject({
  reason: z.string(),
  score: z.union([z.literal(0), z.literal(1), z.literal(2)]),
});
const metEntry = z.strictObject({ reason: z.string(), met: z.boolean() });
const scoreOfMet = (met: boolean): CriterionScore => (met ? 2 : 0);

const REPLY_ENTRIES: Readonly<Record<CriterionReply, Readonly<Record<'plain' | 'quoted', z.ZodType<ReplyEntry>>>>> = {
  score: {
    plain: scoreEntry.transform(({ reason, score }) => ({ reason, score, quote: '' })),
    quoted: scoreEntry.extend({ quote }).transform(({ reason, score, quote }) => ({ reason, score, quote })),
  },
  met: {
    plain: metEntry.transform(({ reason, met }) => ({ reason, score: scoreOfMet(met), quote: '' })),
    quoted: metEntry
      .extend({ quote })
      .transform(({ reason, met, quote }) => ({ reason, score: scoreOfMet(met), quote })),
  },
};

const REPLY_SCHEMAS: Readonly<Record<CriterionReply, Readonly<Record<string, JsonSchema>>>> = {
  score: { score: { type: 'integer', enum: [0, 1, 2] } },
  met: { met: { type: 'boolean' } },
};

/** @param criteria number of criteria in the request. */
function replySchema(criteria: number, asking: Asking = {}): JsonSchema {
  const reply = rubricTemplate(asking)?.reply ?? 'score';
  const quoted = asking.evidence === undefined ? {} : { quote: { type: 'string', maxLength: MAX_QUOTE_CHARS } };
  const entry = exactObject({ reason: REASON_SCHEMA, ...quoted, ...REPLY_SCHEMAS[reply] });
  return exactObject(Object.fromEntries(Array.from({ length: criteria }, (_, n) => [criterionKey(n), entry])));
}

function maxReplyTokens({ criteria, asking }: RubricRequest): number {
  const quoteTokens = asking?.evidence === undefined ? 0 : QUOTE_TOKENS;
  return criteria.length * (REASON_TOKENS + quoteTokens + VERDICT_TOKENS) + VERDICT_TOKENS;
}

/** The task of the usual template. */
function usualTask({ evidence }: Asking = {}): string {
  return evidence === undefined ? TEXTS.rubricTask : `${TEXTS.rubricTask}\nBetween them give ${EVIDENCE_TEXT.score}.`;
}

/** Tokens of the words of a template, which the fixed allowance for the usual one does not cover. */
function templateTokens({ asking }: RubricRequest): number {
  const template = rubricTemplate(asking);
  return template === null ? 0 : estimateTokens(template.text);
}

function criterionBlocks({ criteria }: RubricRequest, nonce: string): string[] {
  return criteria.map(({ title, description }, position) => {
    const key = criterionKey(position);
    return dataBlock('criterion', nonce, { key, ...(title === undefined ? {} : { title }) }, description);
  });
}

function usualMessages(request: RubricRequest): JudgePrompt['messages'] {
  return evidenceMessages(request, (nonce) => [
    usualTask(request.asking),
    ...criterionBlocks(request, nonce),
    dataBlock('answer', nonce, {}, request.answer),
  ]);
}

function templateMessages(request: RubricRequest, template: OwnTemplate): JudgePrompt['messages'] {
  const { nonce, question, sources } = evidenceBlocks(request);
  const filled = filledTemplate(template, {
    question,
    sources: sources.join(BETWEEN_PARTS),
    criteria: criterionBlocks(request, nonce).join(BETWEEN_PARTS),
    answer: dataBlock('answer', nonce, {}, request.answer),
  });
  return messages(templateSystem(template.reply, request.asking?.evidence !== undefined), [filled]);
}

function criteriaTokens({ criteria }: RubricRequest): number {
  return criteria.reduce((sum, { title, description }) => sum + blockTokens(title, description), 0);
}

/** Upper estimate of the tokens that the criteria take in the prompt and in the reply. */
export function rubricTokens(request: RubricRequest): number {
  return criteriaTokens(request) + maxReplyTokens(request);
}

export const rubric: ReadingKind<RubricRequest, RubricVerdicts> = {
  kind: 'rubric',
  answeredBy: 'reader',
  dependsOnParser: true,
  templateSource(asking = {}) {
    const template = rubricTemplate(asking);
    const isQuoted = asking.evidence !== undefined;
    const texts =
      template === null
        ? { system: EVIDENCE_SYSTEM, rubricTask: usualTask(asking) }
        : { system: templateSystem(template.reply, isQuoted), text: template.text };
    return readingTemplate(texts, { rubric: replySchema(1, asking) });
  },
  verdictsSchema: z.strictObject({
    kind: z.literal('rubric'),
    criteria: z.array(
      z.strictObject({
        key: z.string(),
        score: z.literal([0, 1, 2]),
        evidence: z.enum(['verified', 'unverified', 'missing']).exactOptional(),
      }),
    ),
  }),
  maxReplyTokens,

  /** The criteria precede the answer, because within a group only the answer differs. */
  prompt(request) {
    const template = rubricTemplate(request.asking);
    return {
      messages: template === null ? usualMessages(request) : templateMessages(request, template),
      schema: { name: 'rubric_verdicts', schema: replySchema(request.criteria.length, request.asking) },
      max_reply_tokens: maxReplyTokens(request),
    };
  },

  readReply({ criteria, answer, asking = {} }, reply) {
    const keys = criteria.map((_, position) => criterionKey(position));
    const isQuoted = asking.evidence !== undefined;
    const entry = REPLY_ENTRIES[rubricTemplate(asking)?.reply ?? 'score'][isQuoted ? 'quoted' : 'plain'];
    const read = readEntries(
      keys.map((key) => [key, entry] as const),
      reply,
      'refused',
    );
    if (!read.ok) return read;
    const check = isQuoted ? createQuoteCheck(answer) : null;
    const verdicts = keys.map((key): CriterionVerdict => {
      const { score, quote } = entryOf(read.entries, key);
      return { key, score, ...(check === null || score === 0 ? {} : { evidence: check(quote) }) };
    });
    const reasons = keys.map((key) => entryOf(read.entries, key).reason);
    return { ok: true, verdicts: { kind: 'rubric', criteria: verdicts }, reasons };
  },

  reasonPlaces: ({ criteria }) => criteria.map((_, index) => ({ of: 'criteria', index })),

  fit: (request, promptTokens, cited) =>
    fitAnswered(request, criteriaTokens(request) + templateTokens(request), promptTokens, cited),

  answers(request, verdicts) {
    const isQuoted = request.asking?.evidence !== undefined;
    return (
      verdicts.criteria.length === request.criteria.length &&
      verdicts.criteria.every(
        ({ key, score, evidence }, position) =>
          key === criterionKey(position) && (evidence !== undefined) === (isQuoted && score > 0),
      )
    );
  },

  judgeLexically(request) {
    const scores = scoreCriteriaLexically(request);
    return { kind: 'rubric', criteria: scores.map((score, n) => ({ key: criterionKey(n), score })) };
  },
};
