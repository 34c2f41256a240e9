/** Runs the incremental verifier over texts that are known to be hard, and over every example. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';
import { parseSources, sourcesFromList } from '../../../src/citations/sources.ts';
import type { IncrementalOptions } from '../../../src/citations/stream/verifier.ts';
import { goldenRows } from '../golden.ts';
import { check, expectSame, SOURCES, testChunking } from './chunking.case.ts';
import { cut, type Streamed, stream } from './streamed.ts';

// test/slow runs ten thousand more.
testChunking(400, 120_000);

describe('texts that need a long look-ahead or look-back', () => {
  it.each([
    // A line that begins like a list item ends its sentence, however long it is.
    ['bracket', '- It opened in 1937 in the west [S1] and later it was long\nnext the red one [S2] is.'],
    ['bracket', '1. It opened in 1937 in the west [S1]\n[S2]\n2. and later [S9]\nit was red [S1].'],
    ['bracket', 'It opened, says Dr. [S1] Snow. It is red.[S2] (It is) long [S9]\n\n\n- a [S1]'],
    ['footnote', `It is ${'very '.repeat(2_000)}long. It is red[^S1], and so on${' '.repeat(5_000)}[^S2].`],
    [
      'snippet',
      `<answer>${'It is long. '.repeat(1_000)}<snippet id=S1>It ${'very '.repeat(2_000)}red</snippet></answer>`,
    ],
    // A claim without a letter outside markup, with a number that its source lacks.
    ['snippet', '<answer>It is. <snippet id=S1><b 1999></snippet> <snippet id=S1,S2,S3,S4,S5,S6>*</snippet></answer>'],
  ] as const)('in the grammar %s', (grammar, text) => {
    check(text, { sources: SOURCES, grammar, evidence: 'lexical' }, [100, 5_000, 9_999]);
  });
});

const ROLLOUTS = readFileSync(resolve(import.meta.dirname, '../../../examples/rollouts.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): { id: string; response: string; tool_output?: string; sources?: { id: string; text: string }[] } =>
    JSON.parse(line),
  );

describe('the example rollouts', { timeout: 60_000 }, () => {
  it.each(ROLLOUTS.map((row) => [row.id, row] as const))('%s', (_id, { response, tool_output, sources }) => {
    const given: IncrementalOptions = {
      sources: tool_output === undefined ? sourcesFromList(sources ?? []) : parseSources(tool_output),
      evidence: 'lexical',
    };
    check(response, given, []);
    const { all } = stream([response], given);
    // All places to split a short text, some of a long one.
    const structural: IncrementalOptions = { sources: given.sources };
    const expected = all.map((event) => withoutEvidence(event));
    const step = Math.max(1, Math.floor(response.length / 200));
    for (let place = 1; place < response.length; place += step) {
      const events = stream(cut(response, [place]), structural).all;
      expectSame(
        events,
        expected.filter((event) => event !== null),
      );
    }
  });
});

describe('the golden rows', { timeout: 60_000 }, () => {
  const responses = ['dr-tulu-citations', 'dr-tulu-format', 'dr-tulu-rubrics', 'longtrace'].flatMap((file) =>
    goldenRows(`${file}.jsonl`).flatMap(({ input }) =>
      [input['response'], input['context']].filter((text) => typeof text === 'string'),
    ),
  );

  it.each(GRAMMAR_NAMES)('%s', (grammar) => {
    expect(responses.length).toBeGreaterThan(100);
    for (const response of new Set(responses)) check(response, { sources: SOURCES, grammar }, [7, 40]);
  });
});

const LEXICAL: ReadonlySet<string> = new Set([
  'claim_verbatim',
  'number_not_in_source',
  'name_not_in_source',
  'quotation_invented',
  'quotation_misattributed',
  'quotation_stitched',
  'quotation_altered',
  'claim_states_nothing',
  'claim_abstains',
  'claim_repeats_question',
  'judge_injection_suspected',
]);

function withoutEvidence(event: Streamed['all'][number]): Streamed['all'][number] | null {
  if (event.type === 'finding' && LEXICAL.has(event.reason)) return null;
  if (event.type !== 'claim') return event;
  const { evidence: _, ...rest } = event;
  return rest;
}

it('accepts an empty response', () => {
  expect(stream([], { sources: parseSources('') }).all).toEqual([
    { type: 'answer', state: 'judged', answer: null },
    { type: 'finding', reason: 'no_answer', in: 'response', span: { start: 0, end: 0 }, answer: null, citation: null },
  ]);
});
