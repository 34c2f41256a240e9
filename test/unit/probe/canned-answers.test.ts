import { describe, expect, it } from 'vitest';
import { sourcesFromList } from '../../../src/citations/sources.ts';
import {
  CANNED_ANSWERS,
  type CannedAnswerName,
  type CannedMaterial,
  cannedAnswer,
  needsRubric,
} from '../../../src/probe/canned-answers.ts';
import { citedTexts, sentencesThatMeet, sourceSentences } from '../../../src/probe/good-answer.ts';

const SOURCES = sourcesFromList([
  { id: 'S1', text: 'The bridge opened in 1904. It is green.' },
  { id: 'S2', text: 'Ida Korven designed the bridge. She was an engineer.' },
]).list;
const SENTENCES = sourceSentences(SOURCES);

const MATERIAL: CannedMaterial = {
  question: 'Who designed the bridge?',
  sources: SOURCES,
  sentences: SENTENCES,
  criteria: citedTexts(['States that Ida Korven designed the bridge'], SENTENCES),
  good: sentencesThatMeet(['States that Ida Korven designed the bridge'], 'Who designed the bridge?', SENTENCES),
  other: [{ text: 'It is 41 metres tall.', sources: SOURCES.slice(0, 1) }],
  seed: 0,
};

/** An answer as texts with ids, or why there is none. */
function shown(name: CannedAnswerName, material: CannedMaterial = MATERIAL, cites = true): unknown {
  const claims = cannedAnswer(name, material, cites);
  return typeof claims === 'string'
    ? claims
    : claims.map(({ text, sources }) => [text, ...sources.map(({ id }) => id)]);
}

describe('cannedAnswer', () => {
  it.each<[CannedAnswerName, unknown]>([
    ['first_sentence_1', [['The bridge opened in 1904.', 'S1']]],
    ['first_sentence_2', [['Ida Korven designed the bridge.', 'S2']]],
    ['first_sentence_3', 'no_source'],
    [
      'all_sentences',
      [
        ['The bridge opened in 1904.', 'S1'],
        ['It is green.', 'S1'],
        ['Ida Korven designed the bridge.', 'S2'],
        ['She was an engineer.', 'S2'],
      ],
    ],
    ['question', [['Who designed the bridge?']]],
    ['question_cited', [['Who designed the bridge?', 'S1']]],
    ['it', [['It']]],
    ['it_cited', [['It', 'S1']]],
    ['refusal', [['I cannot answer this question.']]],
    ['other_answer', [['It is 41 metres tall.', 'S1']]],
    ['first_sentence_all_sources', [['The bridge opened in 1904.', 'S1', 'S2']]],
    ['good_answer_all_sources', [['Ida Korven designed the bridge.', 'S1', 'S2']]],
    ['good_answer_all_sources_repeated', [['Ida Korven designed the bridge.', 'S1', 'S2', 'S1', 'S2', 'S1', 'S2']]],
    ['criteria', [['States that Ida Korven designed the bridge']]],
    ['criteria_cited', [['States that Ida Korven designed the bridge', 'S2']]],
  ])('%s', (name, expected) => {
    expect(shown(name)).toEqual(expected);
  });

  it('draws the random sentence from the seed and the question', () => {
    const texts = Array.from({ length: 30 }, (_, seed) =>
      JSON.stringify(shown('random_sentence', { ...MATERIAL, seed })),
    );
    expect(new Set(texts).size).toBe(4);
    expect(shown('random_sentence')).toEqual(shown('random_sentence'));
  });

  it('says why an answer cannot be given', () => {
    const bare: CannedMaterial = { ...MATERIAL, sources: [], sentences: [], criteria: [], good: [], other: null };
    const reasons = Object.fromEntries(CANNED_ANSWERS.map((name) => [name, shown(name, bare)]));
    expect(reasons).toMatchObject({
      first_sentence_1: 'no_source',
      random_sentence: 'no_source',
      all_sentences: 'no_source',
      question_cited: 'no_source',
      other_answer: 'no_other_row',
      good_answer_all_sources: 'no_good_answer',
      criteria: 'no_criteria',
      criteria_cited: 'no_criteria',
    });
    expect(reasons['it']).toEqual([['It']]);
  });

  it('leaves out what differs by citations alone, where answers cannot cite', () => {
    const left = CANNED_ANSWERS.filter((name) => shown(name, MATERIAL, false) === 'no_citations');
    expect(left).toEqual([
      'question_cited',
      'it_cited',
      'first_sentence_all_sources',
      'good_answer_all_sources',
      'good_answer_all_sources_repeated',
      'criteria_cited',
    ]);
  });

  it('marks the answers that no policy can give', () => {
    expect(CANNED_ANSWERS.filter(needsRubric)).toEqual(['criteria', 'criteria_cited']);
  });
});

describe('sentencesThatMeet', () => {
  it('takes the closest sentence for each criterion, once, and the closest to the question where none has a word', () => {
    const met = sentencesThatMeet(['Names the engineer Ida Korven', 'Says who designed the bridge'], 'x', SENTENCES);
    expect(met.map(({ text }) => text)).toEqual(['Ida Korven designed the bridge.']);
    const closest = sentencesThatMeet(['Zzz qqq'], 'When was the opening in 1904?', SENTENCES);
    expect(closest.map(({ text }) => text)).toEqual(['The bridge opened in 1904.']);
    expect(sentencesThatMeet(['Zzz qqq'], 'xxx', SENTENCES)).toEqual([]);
  });

  it('prefers among equals the sentence that is closer to the question', () => {
    const sentences = sourceSentences(
      sourcesFromList([{ id: 'S1', text: 'Hollywood is in America. Hollywood is a district of film studios.' }]).list,
    );
    const [met] = sentencesThatMeet(['States Hollywood'], 'Which district is known for film?', sentences);
    expect(met?.text).toBe('Hollywood is a district of film studios.');
  });
});
