/** Offsets of replies in UTF-16 code units, UTF-8 bytes and code points: slices in each unit give the same texts. */
import { describe, expect, it } from 'vitest';
import { OFFSET_UNITS, type OffsetUnit } from '../../src/citations/offset-units.ts';
import type { Span } from '../../src/text/span.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { refineResponseSchema } from '../../src/wire/refine.ts';
import { verifyResponseSchema } from '../../src/wire/verify.ts';
import { post, type RefinerScore, ROLLOUT, score, send, wrongFields } from './api.ts';
import { ended, line, outputLines, submit } from './batch-api.ts';

const EMOJI = '😀é准 ';
const RESPONSE = `${EMOJI}<answer>${EMOJI}<snippet id=S1>The Aare is ${EMOJI}300 km long.</snippet> It is ${EMOJI} deep.</answer>`;
const TOOL_OUTPUT = `${EMOJI}<snippet id=S1>${EMOJI} The Aare is 288 km long.</snippet><snippet id=S1>again</snippet>`;
const BODY = { ...ROLLOUT, response: RESPONSE, tool_output: TOOL_OUTPUT };

function slice(text: string, { start, end }: Span, unit: OffsetUnit): string {
  switch (unit) {
    case 'utf16':
      return text.slice(start, end);
    case 'utf8':
      return new TextDecoder().decode(new TextEncoder().encode(text).slice(start, end));
    case 'codepoints':
      return [...text].slice(start, end).join('');
  }
}

/** The texts of all spans of a score. */
function textsOf({ claims, statements, findings }: RefinerScore, unit: OffsetUnit): unknown {
  return {
    claims: claims.map(({ span, ids }) => [span, ...ids.map((id) => id.span)].map((one) => slice(RESPONSE, one, unit))),
    statements: statements.map(({ pieces }) => pieces.map((piece) => slice(RESPONSE, piece, unit))),
    findings: findings.map((one) => slice(one.in === 'response' ? RESPONSE : TOOL_OUTPUT, one.span, unit)),
  };
}

describe.each(OFFSET_UNITS)('%s', (offsets) => {
  it('slices a score, a member of a group and a line of a batch to the same texts', async () => {
    const expected = textsOf(await score(BODY), 'utf16');
    expect(expected).toMatchObject({ claims: [[`The Aare is ${EMOJI}300 km long.`, 'S1']] });
    expect(textsOf(await score({ ...BODY, offsets }), offsets)).toEqual(expected);

    const { response, ...shared } = BODY;
    const reply = await send(post('/v1/groups', { ...shared, responses: [response], offsets }));
    const [member] = groupResponseSchema.parse(await reply.json()).members;
    if (member?.family !== 'refiner') throw new Error('no score');
    expect(textsOf(member, offsets)).toEqual(expected);

    const batch = await ended((await submit(line('a', { ...BODY, offsets }))).id);
    const [row] = await outputLines(batch.output_file_id);
    expect(textsOf(Object(row?.response?.body), offsets)).toEqual(expected);
  });

  it('slices a verification to the same texts, by the query, the body and a line of a batch', async () => {
    const body = { response: RESPONSE, tool_output: TOOL_OUTPUT };
    const verified = async (path: string, more: object) => {
      const reply = await send(post(path, { ...body, ...more }));
      return verifyResponseSchema.parse(await reply.json());
    };
    const batch = await ended((await submit(line('a', { ...body, offsets }, '/v1/verify'), '/v1/verify')).id);
    const [row] = await outputLines(batch.output_file_id);
    const replies = [
      await verified(`/v1/verify?evidence=lexical&offsets=${offsets}`, {}),
      await verified('/v1/verify?evidence=lexical', { offsets }),
      verifyResponseSchema.parse(row?.response?.body),
    ];
    for (const reply of replies) {
      expect(reply).toEqual(replies[0]);
      const [claim] = reply.claims;
      expect(claim === undefined ? null : slice(RESPONSE, claim.span, offsets)).toBe(claim?.text);
    }
  });

  it('slices the candidates of a refinement to the same texts', async () => {
    const { question, positive_rubrics, recipe } = ROLLOUT;
    const body = { question, tool_output: TOOL_OUTPUT, generator: 'extractive', recipe, positive_rubrics, offsets };
    const reply = await send(post('/v1/refine', { ...body, sampling: { seed: 1 } }));
    const [candidate] = refineResponseSchema.parse(await reply.json()).candidates;
    const score = candidate?.score;
    if (candidate === undefined || score?.family !== 'refiner') throw new Error('no score');
    expect(candidate.verification.claims.length).toBeGreaterThan(0);
    for (const [n, { span, text }] of candidate.verification.claims.entries()) {
      expect(slice(candidate.response, span, offsets)).toBe(text);
      expect(score.claims[n]?.span).toEqual(span);
    }
  });

  it('slices a response from messages, and the messages that it comes from', async () => {
    const content = `${EMOJI} I know. <answer>${EMOJI}<snippet id=S1>Long.</snippet></answer>`;
    const { response: _, tool_output: __, ...shared } = BODY;
    const messages = [
      { role: 'user', content: 'How long?' },
      { role: 'tool', content: TOOL_OUTPUT },
      { role: 'assistant', content },
    ];
    const { claims, trajectory } = await score({ ...shared, messages, offsets });
    const [piece] = trajectory?.response ?? [];
    const [claim] = claims;
    if (piece === undefined || claim === undefined) throw new Error('no piece');
    const start = claim.span.start - piece.start + piece.from;
    expect(slice(content, { start, end: start + 5 }, offsets)).toBe('Long.');
  });
});

it('is refused in both the query and the body of a verification', async () => {
  const body = { response: RESPONSE, tool_output: TOOL_OUTPUT, offsets: 'utf8' };
  expect(await wrongFields(await send(post('/v1/verify?offsets=utf16', body)))).toEqual(['offsets']);
});

it('is refused for a stream of candidates', async () => {
  const body = { question: 'q', tool_output: TOOL_OUTPUT, stream: true, offsets: 'utf8' };
  expect(await wrongFields(await send(post('/v1/refine', body)))).toEqual(['offsets']);
});
