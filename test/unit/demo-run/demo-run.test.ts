/** The demo run is synthetic and says so. It is the same whenever it is generated, and in whatever parts. */
import { describe, expect, it } from 'vitest';
import { makeSample } from '../../../scripts/demo-run/policy.ts';
import { makePrompts } from '../../../scripts/demo-run/prompts.ts';
import { groupRequest, type RunShape } from '../../../scripts/demo-run/record.ts';
import { verifyCitations } from '../../../src/citations/verify.ts';
import { groupRequestSchema } from '../../../src/wire/groups.ts';

const SHAPE: RunShape = {
  seed: 'test',
  run: 'demo-test',
  recipe: 'refiner-gpt54-instance-rubric',
  steps: 12,
  prompts: 6,
  samples: 4,
};
const PROMPTS = makePrompts(SHAPE.seed, SHAPE.prompts);

describe('prompts', () => {
  it('are the same for the same seed, also where fewer are made, and differ from each other', () => {
    expect(makePrompts(SHAPE.seed, 3)).toEqual(PROMPTS.slice(0, 3));
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
});

describe('samples', () => {
  it('are requests that the API takes, the same for the same place in the run', () => {
    for (const prompt of PROMPTS) {
      const request = groupRequest(SHAPE, prompt, 5);
      expect(groupRequest(SHAPE, prompt, 5)).toEqual(request);
      const read = groupRequestSchema.parse(request);
      expect(read.run).toEqual({ id: 'demo-test', step: 5, group: prompt.group });
      expect(read.responses).toHaveLength(SHAPE.samples);
    }
  });

  it('have fewer faults of each kind at the last step than at the first', () => {
    const faults = (progress: number): Readonly<Record<string, number>> => {
      const counts = { invented: 0, unclosed: 0, outside: 0, uncited: 0 };
      for (const prompt of PROMPTS) {
        const { tool_output } = prompt;
        for (let sample = 0; sample < 40; sample++) {
          const { response } = makeSample(SHAPE.seed, prompt, 0, progress, sample);
          const found = verifyCitations({ response, tool_output, mode: 'answer_only' }, { evidence: 'none' });
          counts.invented += found.finding_counts.citation_id_unknown ?? 0;
          counts.unclosed += found.finding_counts.answer_unclosed ?? 0;
          counts.outside += found.finding_counts.text_outside_answer ?? 0;
          counts.uncited += found.ratios.uncited_statements;
        }
      }
      return counts;
    };
    const [first, last] = [faults(0), faults(1)];
    for (const [fault, count] of Object.entries(last)) {
      expect(count, fault).toBeGreaterThan(0);
      expect(first[fault], fault).toBeGreaterThan(2 * count);
    }
  });
});
