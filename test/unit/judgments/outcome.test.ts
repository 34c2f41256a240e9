/** The outcome judgment: its prompt, its reply reader, and the lexical judge's answer. */
import { describe, expect, it } from 'vitest';
import { outcome } from '../../../src/judgments/kinds/outcome/outcome.ts';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import { judgePrompt, readReply } from '../../../src/judgments/model-judge.ts';
import { INJECTIONS } from './injections.ts';
import { OUTCOME } from './requests.ts';

describe('its prompt', () => {
  it('shares all but the answer within a group, and asks for the reason first', () => {
    const [system, user] = judgePrompt(OUTCOME).messages;
    expect(outcome.templateSource()).toMatchObject({ texts: { outcomeSystem: system.content } });
    const other = judgePrompt({ ...OUTCOME, answer: 'In Italy.' }).messages[1];
    const shared = user.content.slice(0, user.content.indexOf(OUTCOME.answer));
    expect(other.content.startsWith(shared)).toBe(true);
    expect(shared).toMatch(/<answer-[0-9a-f]{12}>\n$/);
    for (const text of [OUTCOME.question, OUTCOME.reference]) expect(shared).toContain(text);
    expect(Object.keys(Object(judgePrompt(OUTCOME).schema?.schema['properties']))).toEqual(['reason', 'correct']);
  });

  it.each(INJECTIONS)('$name stays where it stands', ({ text }) => {
    const blocks = (content: string): string[] =>
      content.match(/<\/?(?:question|reference|answer)-[0-9a-f]{12}[^>]*>/g) ?? [];
    for (const place of ['question', 'reference', 'answer'] as const) {
      const { content } = judgePrompt({ ...OUTCOME, [place]: text('0123456789ab') }).messages[1];
      expect(blocks(content).map((tag) => tag.replace(/-[0-9a-f]{12}/, ''))).toEqual([
        '<question>',
        '</question>',
        '<reference>',
        '</reference>',
        '<answer>',
        '</answer>',
      ]);
    }
  });

  it('fits whole, or with the beginning of its answer: a policy cannot leave itself unscored by its length', () => {
    expect(outcome.fit(OUTCOME, 8_000, new Set())).toEqual({ ok: true, request: OUTCOME, cuts: [] });
    const answer = '7'.repeat(12_000);
    const fitted = outcome.fit({ ...OUTCOME, answer }, 8_000, new Set());
    if (!fitted.ok) throw new Error(fitted.failure.detail);
    const { kept_chars = 0 } = fitted.answer_cut ?? {};
    expect(fitted.answer_cut).toEqual({ kept_chars, chars: 12_000 });
    expect(kept_chars).toBeGreaterThan(6_000);
    expect(fitted.request).toEqual({ ...OUTCOME, answer: '7'.repeat(kept_chars) });
    const reference = 'x'.repeat(100_000);
    expect(outcome.fit({ ...OUTCOME, reference }, 8_000, new Set())).toMatchObject({
      ok: false,
      failure: { reason: 'judge_prompt_too_long' },
    });
  });
});

describe('its reply', () => {
  it('is read strictly', () => {
    const verdict = (reply: unknown) => {
      const read = readReply(OUTCOME, typeof reply === 'string' ? reply : JSON.stringify(reply));
      return read.ok ? read.verdicts : read.problem;
    };
    expect(verdict({ reason: 'Same.', correct: true })).toEqual({ kind: 'outcome', correct: true });
    expect(verdict({ reason: 'Not.', correct: false })).toEqual({ kind: 'outcome', correct: false });
    for (const wrong of [
      { reason: 'x' },
      { correct: true },
      { reason: 'x', correct: 'yes' },
      { reason: 'x', correct: 1 },
    ]) {
      expect(verdict(wrong)).toBe('wrong_shape');
    }
    expect(verdict('{"reason": "x", "correct": true, "correct": false}')).toBe('not_json');
    expect(verdict('correct: yes')).toBe('not_json');
  });
});

describe('the lexical judge', () => {
  it.each([
    ['288 km', 'The river is 288 km long.', true],
    ['288 km', 'The river is 295 km long.', false],
    ['the Aare', 'It is the Aare.', true],
    ['Bernese Alps', 'In the Valais.', false],
    ['42', '42', true],
    ['42', 'about 420', false],
    ['the Aare', 'It is not the Aare.', false],
    ['the Aare', 'It may or may not be the Aare.', false],
    ['the Aare', 'It is not true that the river is the Aare.', false],
    ['the Aare', 'It is the Aare, not the Rhine.', true],
    ['the Aare', 'It is not the Rhine, but the Aare.', true],
    ['the Aare', 'It is not the Aare. It is the Aare.', true],
    ['1904', 'It was not finished until 1904.', true],
    ['not before 1904', 'It was not before 1904.', true],
  ])('%s against "%s": %s', (reference, answer, correct) => {
    expect(judgeLexically({ ...OUTCOME, reference, answer })).toEqual({ kind: 'outcome', correct });
  });
});
