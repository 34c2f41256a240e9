/** The extractive refiner: every sentence it writes has a valid citation, whatever its sources hold. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyCitations } from '../../../lib/verify.ts';
import { parseSources, sourcesFromList } from '../../../src/citations/sources.ts';
import { refineExtractively } from '../../../src/generation/extractive.ts';

type Example = { readonly question: string; readonly tool_output?: string };

const EXAMPLES = readFileSync(resolve(import.meta.dirname, '../../../examples/rollouts.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line): Example => JSON.parse(line));

const AARE =
  '<snippet id=S1>The Aare is 288 kilometres long. It is popular with swimmers.</snippet>' +
  '<snippet id=S2>The Rhine is longer than the Aare. The weather in Bern was fine.</snippet>';

describe('the extractive refiner', () => {
  it('selects the sentences about the question', () => {
    const answer = refineExtractively('How long is the Aare?', parseSources(AARE), { sentences: 1 });
    expect(answer).toBe('<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>');
  });

  it('says so if no source answers the question', () => {
    expect(refineExtractively('Who invented the telephone?', parseSources(AARE))).toBe(
      '<answer>The search results do not answer this question.</answer>',
    );
  });

  it('cites copied text validly for every example, and answers most of them', () => {
    let answered = 0;
    for (const { question, tool_output } of EXAMPLES) {
      if (tool_output === undefined) continue;
      const response = refineExtractively(question, parseSources(tool_output));
      const verified = verifyCitations(
        { response, tool_output, grammar: 'snippet', mode: 'answer_only' },
        { evidence: 'lexical' },
      );
      expect(verified.format.answer_only).toBe(1);
      for (const { evidence } of verified.claims) expect(evidence?.verbatim.length).toBeGreaterThan(0);
      if (verified.claims.length > 0) answered++;
    }
    expect(answered).toBeGreaterThan(EXAMPLES.length / 2);
  });

  it('is deterministic per seed, and varies with the seed above temperature 0', () => {
    const sources = parseSources(EXAMPLES[0]?.tool_output ?? '');
    const answers = (temperature: number) =>
      Array.from({ length: 8 }, (_, seed) =>
        refineExtractively(EXAMPLES[0]?.question ?? '', sources, { temperature, seed, sentences: 2 }),
      );
    expect(new Set(answers(0)).size).toBe(1);
    expect(answers(1)).toEqual(answers(1));
    expect(new Set(answers(1)).size).toBeGreaterThan(1);
  });

  it('never breaks its own markup, whatever the sources hold', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ id: fc.string(), text: fc.string() })), fc.string(), (list, question) => {
        const sources = sourcesFromList(
          list.map(({ id, text }) => ({ id, text: `${text} ${question} and some more words here.` })),
        );
        const response = refineExtractively(question, sources);
        const verified = verifyCitations(
          {
            response,
            sources: list.filter(({ id }) => id !== ''),
            grammar: 'snippet',
            mode: 'answer_only',
          },
          { evidence: 'none' },
        );
        expect(verified.finding_counts.citation_id_unknown ?? 0).toBe(0);
        expect(verified.finding_counts.citation_unclosed ?? 0).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
