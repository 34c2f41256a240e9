/** The stored answer of a rollout in pieces, each with how well the sources support the claim that it is. */
import * as z from 'zod';
import type { RunRollout } from '../../../src/wire/runs.ts';

export type Tone = 'unjudged' | 'full' | 'partial' | 'none';

/** A piece of the answer; `tone` is null outside claims. */
type AnswerPiece = { readonly text: string; readonly tone: Tone | null };

export type MarkedAnswer = { readonly question: string | null; readonly pieces: readonly AnswerPiece[] };

export const TONE_WORDS: Readonly<Record<Tone, string>> = {
  unjudged: 'not judged',
  full: 'supported',
  partial: 'partly supported',
  none: 'not supported',
};

/** What a report of a rollout says of the claims; families without claims have none. */
const reportSchema = z.object({
  claims: z.array(z.object({ span: z.object({ start: z.int(), end: z.int() }), support: z.number().nullable() })),
});
const textSchema = z.object({ question: z.string().optional(), response: z.string() });

/** @returns null if the run does not keep the text of the rollout, or it is no single answer. */
export function markedAnswer({ detail }: Pick<RunRollout, 'detail'>): MarkedAnswer | null {
  const text = textSchema.safeParse(detail?.rollout);
  if (!text.success) return null;
  const { question = null, response } = text.data;
  const claims = reportSchema.safeParse(detail?.report).data?.claims ?? [];
  const pieces: AnswerPiece[] = [];
  let at = 0;
  for (const { span, support } of claims.toSorted((one, other) => one.span.start - other.span.start)) {
    // A claim inside another one is part of its mark.
    if (span.start < at) continue;
    const tone = support === null ? 'unjudged' : support === 1 ? 'full' : support > 0 ? 'partial' : 'none';
    if (span.start > at) pieces.push({ text: response.slice(at, span.start), tone: null });
    pieces.push({ text: response.slice(span.start, span.end), tone });
    at = span.end;
  }
  if (at < response.length) pieces.push({ text: response.slice(at), tone: null });
  return { question, pieces };
}
