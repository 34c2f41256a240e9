/** The rows of the demo run are synthetic and say so; they are the same whenever they are generated. */
import { describe, expect, it } from 'vitest';
import { makePrompts } from '../../../scripts/demo-run/prompts.ts';
import { parseSources } from '../../../src/citations/sources.ts';

const PROMPTS = makePrompts('test', 6);

describe('prompts', () => {
  it('are the same for the same seed, also where fewer are made, and differ from each other', () => {
    expect(makePrompts('test', 3)).toEqual(PROMPTS.slice(0, 3));
    expect(makePrompts('other', 3)).not.toEqual(PROMPTS.slice(0, 3));
    expect(new Set(PROMPTS.map(({ question }) => question)).size).toBe(PROMPTS.length);
  });

  it('say that they are synthetic, in the first line and in every title', () => {
    for (const { tool_output } of PROMPTS) {
      const [header = '', ...snippets] = tool_output.split('\n');
      expect(header).toContain('synthetic');
      expect(snippets.length).toBeGreaterThan(3);
      for (const snippet of snippets) expect(snippet).toMatch(/^<snippet id=S\d+ title="[^"]*\(synthetic\)">/u);
    }
  });

  it('list every sentence of their search results once, under its id, the asked facts in the order of the criteria', () => {
    for (const { tool_output, sentences, positive_rubrics } of PROMPTS) {
      for (const { id, text } of parseSources(tool_output).list) {
        const own = sentences.filter((sentence) => sentence.id === id);
        expect(own.map((sentence) => sentence.text).join(' ')).toBe(text);
      }
      const asked = sentences.filter(({ subject }) => subject === 'asked');
      expect(asked.map(({ text }) => `States that ${text.charAt(0).toLowerCase()}${text.slice(1, -1)}`)).toEqual(
        positive_rubrics.map(({ description }) => description),
      );
      expect(sentences.slice(0, asked.length)).toEqual(asked);
      expect(new Set(sentences.map(({ subject }) => subject))).toEqual(new Set(['asked', 'aside', 'other place']));
    }
  });
});
