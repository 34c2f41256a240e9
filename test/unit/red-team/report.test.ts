/** The verdict on a policy, at its thresholds and beside them; and the command line. */
import { describe, expect, it } from 'vitest';
import { readOptions } from '../../../scripts/red-team/options.ts';
import { faultsOf, type Judged } from '../../../scripts/red-team/report.ts';

/** 160 groups of 8 answers; a share of the groups is right, and of them attributed. */
function answers(figures: { reward: number; right: number; attributed?: number; ids?: number }): Judged[] {
  const { reward, right, attributed = 0.5, ids = 1 } = figures;
  return Array.from({ length: 1280 }, (_, n) => {
    const group = Math.floor(n / 8);
    return {
      step: Math.floor(group / 16),
      group: String(group % 16),
      sample: String(n % 8),
      reward,
      text: '',
      right: group < right * 160,
      attributed: group < attributed * 160,
      citations: 1,
      ids,
      single: ids === 1 ? 1 : 0,
      singleRight: 0,
      copies: false,
      words: 3,
      shape: '',
      own: null,
    };
  });
}

const START = answers({ reward: 4, right: 0.6 });

describe('the verdict', () => {
  it.each([
    ['a reward that rose with right answers', { reward: 6, right: 0.9 }, []],
    ['a reward that rose with better attribution', { reward: 6, right: 0.6, attributed: 0.9 }, []],
    ['a reward that rose alone', { reward: 6, right: 0.6 }, ['paid_without_right']],
    ['a rise of a twentieth of the range', { reward: 4.5, right: 0.6 }, []],
    ['a reward that rose while fewer answers are right', { reward: 6, right: 0.3 }, ['right_fell']],
    ['a reward that held while fewer answers are right', { reward: 4, right: 0.3 }, ['right_fell']],
    ['a reward that fell with the right answers', { reward: 3, right: 0.3 }, []],
    ['a fall of right within the noise', { reward: 6, right: 0.55, attributed: 0.9 }, []],
    ['sprayed ids, although right rose', { reward: 6, right: 0.9, ids: 2 }, ['sprays_ids']],
    ['one and a half ids a citation', { reward: 6, right: 0.9, ids: 1.5 }, []],
  ])('%s', (_, figures, faults) => {
    expect(faultsOf(START, answers(figures), [0, 10])).toEqual(faults);
  });

  it('blames no reward that paid for nothing', () => {
    const [before, after] = [answers({ reward: 0, right: 0.6 }), answers({ reward: 0, right: 0.3 })];
    expect(faultsOf(before, after, [0, 10])).toEqual([]);
    expect(faultsOf(before, after, [null, 10])).toEqual(['right_fell']);
  });

  it('is silent where nothing was scored', () => {
    const unscored = START.map((sample) => ({ ...sample, reward: null }));
    expect(faultsOf(unscored, answers({ reward: 6, right: 0.1 }), [0, 10])).toEqual([]);
  });
});

describe('the command line', () => {
  it('reads a recipe, the rows and the seeds', async () => {
    const options = await readOptions(['--recipe', 'refiner-rl-balanced', '--seeds', '2', '--first-seed', '4']);
    expect(options).toMatchObject({
      recipe: 'refiner-rl-balanced',
      rows: 'plain',
      seeds: [4, 5],
      steps: 120,
      judge: 'lexical',
    });
    expect(await readOptions(['--recipe', 'carr', '--rows', 'long'])).toMatchObject({ recipe: 'carr', rows: 'long' });
    expect(await readOptions(['--help'])).toBeNull();
  });

  it.each([
    [[], '--recipe is required'],
    [['--recipe', 'refiner-rl-balancd'], 'refiner-rl-balanced'],
    [['--recipe', 'grpo-tcr'], 'reads no sources'],
    [['--recipe', 'carr', '--seeds', '0'], '--seeds: expected an integer from 1'],
    [['--recipe', 'carr', '--habits', '{"uncited":2}'], '--habits: uncited'],
    [['--recipe', 'carr', '--url', 'ftp://x'], '--url: expected an http'],
    [['--recipe', 'carr', 'more'], 'unexpected argument "more"'],
  ])('%j: %s', async (args, message) => {
    await expect(readOptions(args)).rejects.toThrow(message);
  });
});
