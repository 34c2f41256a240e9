/** Every action of the demo policy changes the answer as its name says; citations parse. */
import { describe, expect, it } from 'vitest';
import { verifyCitations } from '../../../lib/verify.ts';
import { ACTIONS, DECISIONS, type Decide, type Decision, SampledChoices } from '../../../scripts/demo-run/actions.ts';
import { createDraws } from '../../../scripts/demo-run/draws.ts';
import { makePrompts, type Prompt } from '../../../scripts/demo-run/prompts.ts';
import { type WrittenAnswer, writeAnswer } from '../../../scripts/demo-run/writing.ts';
import type { Verification } from '../../../src/citations/verify.ts';

const PROMPTS = makePrompts('test', 12);
const PROMPT = firstOf(PROMPTS);

function firstOf([prompt]: readonly Prompt[]): Prompt {
  if (prompt === undefined) throw new Error('no prompt');
  return prompt;
}

type Options = { readonly [D in Decision]: (typeof ACTIONS)[D][number] };

const PLAIN: Options = {
  sentences: '2',
  subject: 'asked',
  wording: 'copied',
  citation: 'right id',
  repetition: 'once',
  padding: 'none',
  preface: 'none',
};

function written(options: Partial<Options>, prompt: Prompt = PROMPT): WrittenAnswer & { readonly found: Verification } {
  const all: Options = { ...PLAIN, ...options };
  const decide: Decide = (decision) => all[decision];
  const answer = writeAnswer(prompt, decide, createDraws('test'));
  const input = { response: answer.text, tool_output: prompt.tool_output, mode: 'answer_only' } as const;
  return { ...answer, found: verifyCitations(input, { evidence: 'none' }) };
}

const texts = ({ found }: ReturnType<typeof written>): string[] => found.claims.map(({ text }) => text);
const ids = ({ found }: ReturnType<typeof written>): string[][] =>
  found.claims.map((claim) => claim.ids.map(({ id }) => id));

describe('an answer', () => {
  it('states as many sentences as decided, from the beginning of the list', () => {
    const asked = PROMPT.sentences.filter(({ subject }) => subject === 'asked').map(({ text }) => text);
    for (const count of ACTIONS.sentences) {
      const answer = written({ sentences: count });
      expect(texts(answer)).toEqual([...asked, ...asked].slice(0, Number(count)));
      expect(answer).toMatchObject({ cited: Number(count), uncited: 0, inventedIds: 0, copied: Number(count) });
    }
  });

  it.each(ACTIONS.subject)('is about: %s', (subject) => {
    const known = PROMPT.sentences.filter((sentence) => sentence.subject === subject).map(({ text }) => text);
    for (const text of texts(written({ subject }))) expect(known).toContain(text);
  });

  it('changes words, not claims, where a sentence is reworded, clipped or falsified', () => {
    for (const prompt of PROMPTS) {
      const copied = texts(written({ sentences: '3' }, prompt));
      for (const wording of ['reworded', 'clipped', 'falsified'] as const) {
        const answer = written({ sentences: '3', wording }, prompt);
        expect(answer.copied).toBe(0);
        texts(answer).forEach((text, n) => {
          expect(text, wording).not.toBe(copied[n]);
        });
      }
      const numbers = (text: string) => text.match(/\d+/gu);
      expect(texts(written({ sentences: '3', wording: 'reworded' }, prompt)).map(numbers)).toEqual(copied.map(numbers));
      texts(written({ sentences: '3', wording: 'clipped' }, prompt)).forEach((text, n) => {
        expect(copied[n]?.startsWith(text.slice(0, -1)), text).toBe(true);
      });
    }
  });

  it('cites as decided', () => {
    const rights = ids(written({})).flat();
    const known = new Set(PROMPT.sentences.map(({ id }) => id));
    const uncited = written({ citation: 'none' });
    expect(uncited).toMatchObject({ cited: 0, uncited: 2 });
    expect(uncited.found.claims).toEqual([]);
    const invented = written({ citation: 'invented id' });
    expect(invented.found.finding_counts.citation_id_unknown).toBe(invented.inventedIds);
    expect(invented.inventedIds).toBe(2);
    ids(written({ citation: 'wrong id' })).forEach(([id = ''], n) => {
      expect(known).toContain(id);
      expect(id).not.toBe(rights[n]);
    });
    for (const [n, many] of ids(written({ citation: 'six ids' })).entries()) {
      expect(many).toHaveLength(6);
      expect(many).toContain(rights[n]);
      for (const id of many) expect(known).toContain(id);
    }
  });

  it('repeats, pads and prefaces as decided', () => {
    const plain = written({});
    const twice = written({ repetition: 'twice' });
    expect(texts(twice)).toEqual(texts(plain).flatMap((text) => [text, text]));
    expect(twice).toMatchObject({ cited: 4, copied: 4 });
    const lengths = ACTIONS.padding.map((padding) => written({ padding }).text.length);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(new Set(lengths).size).toBe(3);
    expect(plain.found.finding_counts.text_outside_answer ?? 0).toBe(0);
    expect(written({ preface: 'one line' }).found.finding_counts.text_outside_answer).toBe(1);
  });

  it('is the same for the same draws, and keeps what was decided', () => {
    const uniform = Object.fromEntries(
      DECISIONS.map((decision) => [decision, ACTIONS[decision].map(() => 1 / ACTIONS[decision].length)]),
    );
    const probabilities = { ...PROBABILITIES, ...uniform };
    const sample = (label: number) => {
      const sampled = new SampledChoices(probabilities, 'test', label);
      return { ...writeAnswer(PROMPT, sampled.decide, createDraws('test', label)), choices: sampled.choices };
    };
    expect(sample(1)).toEqual(sample(1));
    const answers = Array.from({ length: 40 }, (_, label) => sample(label));
    expect(new Set(answers.map(({ text }) => text)).size).toBeGreaterThan(30);
    const decided = new Set(answers.flatMap(({ choices }) => choices.map(({ decision, option }) => decision + option)));
    expect(decided.size).toBe(DECISIONS.flatMap((decision) => ACTIONS[decision]).length);
  });
});

/** Of the right type; the test replaces every entry. */
const PROBABILITIES = {
  sentences: [],
  subject: [],
  wording: [],
  citation: [],
  repetition: [],
  padding: [],
  preface: [],
};
