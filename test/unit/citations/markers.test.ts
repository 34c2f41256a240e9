/** Markers around code, in lists, and beside their neighbours that are none: the same from both readers. */
import { describe, expect, it } from 'vitest';
import { parseResponse, sourcesFromList } from '../../../lib/citations.ts';
import type { Claim } from '../../../src/citations/types.ts';
import { HIDDEN_MARKERS, MARKER_LISTS, type MarkerInput, SHOWN_MARKERS } from './marker-inputs.ts';
import { standing, stream } from './streamed.ts';

const asText = ({ text, ids }: Pick<Claim, 'text' | 'ids'>): string =>
  `${text} <- ${ids.map(({ id, source }) => (source === null ? `${id}?` : id)).join(' ')}`;

function expectClaims([text, claims, grammar = 'bracket']: MarkerInput): void {
  const names = /S\d/.test(text) || grammar === 'paren' ? ['S1', 'S2', 'S3'] : ['1', '2', '3'];
  const sources = sourcesFromList(names.map((id) => ({ id, text: 'x' })));
  const options = { grammar, answer: 'whole' } as const;
  expect(parseResponse(text, sources, options).claims.map(asText)).toEqual(claims);
  const streamed = standing(stream([...text], { ...options, sources }).all).claims;
  expect(streamed.map(asText)).toEqual(claims);
}

describe('a marker', () => {
  it.each(HIDDEN_MARKERS.map((input) => [input]))('is text in code, a comment or a formula: %j', expectClaims);
  it.each(SHOWN_MARKERS.map((input) => [input]))('is one beside what only looks like code: %j', expectClaims);
  it.each(MARKER_LISTS.map((input) => [input]))('may hold, or join, several ids: %j', expectClaims);
});
