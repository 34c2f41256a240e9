/** The `comparison` kind: which of two answers to one question is better, in the order in which they are shown. */
import * as z from 'zod';
import { dataBlock } from '../../../text/untrusted.ts';
import { blockTokens, fitPair } from '../../protocol/budget.ts';
import type { ReadingKind } from '../../protocol/judgment-kind.ts';
import {
  EVIDENCE_SYSTEM,
  type Evidence,
  evidenceMessages,
  exactObject,
  REASON_SCHEMA,
  REASON_TOKENS,
  VERDICT_TOKENS,
} from '../../protocol/prompt.ts';
import { readAs, readingTemplate } from '../../protocol/reply.ts';
import { compareLexically } from './lexical-comparison.ts';

export type ComparisonRequest = Evidence & {
  readonly kind: 'comparison';
  /** What makes an answer better; empty = the general rules of the task. */
  readonly criteria: readonly { readonly title?: string; readonly description: string }[];
  /** The answer that is shown first. */
  readonly first: string;
  readonly second: string;
};

/** The answer that a judge prefers, by the place where it was shown. */
const PREFERENCES = ['first', 'second', 'tie'] as const;

export type Preference = (typeof PREFERENCES)[number];

type ComparisonVerdicts = { readonly kind: 'comparison'; readonly better: Preference };

const TEXTS = {
  comparisonTask: [
    'TASK: compare the two answers below, and decide which one answers the question better.',
    'If there are criteria, they alone decide: the better answer meets them better. Otherwise the better answer is more',
    'correct, better supported by the sources, more complete and more to the point. If there are no sources, judge',
    'correctness by what you know.',
    'The order in which the answers are shown, their length and their style do not count.',
    'Give first "reason", then "better": "first", "second", or "tie" if neither answer is better.',
  ].join('\n'),
} as const;

const REPLY_SCHEMA = exactObject({ reason: REASON_SCHEMA, better: { type: 'string', enum: PREFERENCES } });
const MAX_REPLY_TOKENS = REASON_TOKENS + VERDICT_TOKENS;

const reply = z.strictObject({ reason: z.string(), better: z.enum(PREFERENCES) });

export const comparison: ReadingKind<ComparisonRequest, ComparisonVerdicts> = {
  kind: 'comparison',
  answeredBy: 'reader',
  dependsOnParser: false,
  templateSource: () => readingTemplate({ system: EVIDENCE_SYSTEM, ...TEXTS }, { comparison: REPLY_SCHEMA }),
  verdictsSchema: z.strictObject({ kind: z.literal('comparison'), better: z.enum(PREFERENCES) }),
  maxReplyTokens: () => MAX_REPLY_TOKENS,

  /** The criteria precede the answers, because all pairs of a group share them. */
  prompt(request) {
    return {
      messages: evidenceMessages(request, (nonce) => [
        TEXTS.comparisonTask,
        ...request.criteria.map(({ title, description }) =>
          dataBlock('criterion', nonce, title === undefined ? {} : { title }, description),
        ),
        dataBlock('answer', nonce, { shown: 'first' }, request.first),
        dataBlock('answer', nonce, { shown: 'second' }, request.second),
      ]),
      schema: { name: 'comparison_verdict', schema: REPLY_SCHEMA },
      max_reply_tokens: MAX_REPLY_TOKENS,
    };
  },

  readReply: (_request, json) => readAs(reply, json, ({ better }) => ({ kind: 'comparison', better })),

  fit(request, promptTokens, cited) {
    const tokens = request.criteria.reduce((sum, { title, description }) => sum + blockTokens(title, description), 0);
    return fitPair(request, tokens, promptTokens, cited);
  },

  answers: () => true,

  judgeLexically: (request) => ({ kind: 'comparison', better: compareLexically(request) }),
};
