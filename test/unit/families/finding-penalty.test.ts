/** Prices of findings: what they take from a refiner reward, in scoring, in a panel and in replay. */
import { describe, expect, it } from 'vitest';
import { lexicalJudge } from '../../../lib/index.ts';
import { createScorer } from '../../../lib/scorer.ts';
import { CLAIM_WRITERS } from '../../../src/citations/claim-writers.ts';
import { GRAMMAR_NAMES, GRAMMARS, type Grammar } from '../../../src/citations/grammars.ts';
import { contributions, RECIPES } from '../../../src/families/composers.ts';
import { composeRefiner } from '../../../src/families/refiner/compose.ts';
import type { RefinerRecipe } from '../../../src/families/refiner/recipe.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { gapsOf, replayedRow, replayGroup } from '../../../src/runs/replay-group.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';

const BALANCED = RECIPES['refiner-rl-balanced'];
const GUARDED = RECIPES['refiner-guarded'];
const priced = (finding_penalty: RefinerRecipe['finding_penalty'] & object) => ({ ...BALANCED, finding_penalty });

const CLAIM = '<snippet id=S1>The Aare is 288 kilometres long.</snippet>';
const ROW = {
  question: 'How long is the Aare?',
  sources: [
    { id: 'S1', text: 'The Aare is 288 kilometres long. It ends near Koblenz.' },
    { id: 'S2', text: 'The Rhine is 1,230 kilometres long.' },
  ],
  positive_rubrics: [{ description: 'States that the Aare is 288 kilometres long' }],
};
const ADDRESSES = ['https://aare.example/a', 'https://rhine.example/b', null] as const;
const scorer = createScorer({ judge: lexicalJudge });
/** The score of an answer, which has a reward. */
async function score(answer: string, recipe: RefinerRecipe) {
  const scored = await scorer.score({ ...ROW, response: `<answer>${answer}</answer>` }, recipe);
  if (scored.reward === null || scored.family !== 'refiner' || scored.facts.family !== 'refiner') {
    throw new Error('expected the reward of a refiner');
  }
  return { reward: scored.reward, components: scored.components, facts: scored.facts };
}

describe('the price of a finding', () => {
  it('is taken once for each, and contributes to the reward by the name findings', async () => {
    const free = await score(`${CLAIM} See S2 and S1.`, BALANCED);
    const { reward, components } = await score(`${CLAIM} See S2 and S1.`, priced({ id_in_prose: 0.75 }));
    expect(reward).toBeCloseTo(free.reward - 1.5, 12);
    expect(components.findings).toMatchObject({ status: 'scored', contribution: reward - free.reward });
    const recipe = { ...BALANCED, finding_penalty: { id_in_prose: 0.75 } };
    const { facts } = await score(`${CLAIM} See S2 and S1.`, recipe);
    const parts = contributions(composeRefiner(facts, recipe), recipe);
    expect(Object.keys(parts ?? {})).toEqual(['rubric', 'citation', 'findings']);
  });

  it('changes no bit of the reward of an answer without the finding', async () => {
    const free = await score(CLAIM, BALANCED);
    const paid = await score(CLAIM, priced({ id_in_prose: 3 }));
    expect([paid.reward, paid.components.findings?.contribution]).toEqual([free.reward, 0]);
    expect(Object.is(paid.components.findings?.value, 0)).toBe(true);
  });

  it('leaves a reward of 0, and not less', async () => {
    const { reward, components } = await score(`${CLAIM} See S2.`, priced({ id_in_prose: 50 }));
    expect([reward, (components.findings?.contribution ?? 0) < -1]).toEqual([0, true]);
  });

  it('does not reach a reward that a rule decides', async () => {
    const stopped = { ...BALANCED, non_stop_penalty: { enabled: true, value: -2 } };
    const rollout = { ...ROW, response: `<answer>${CLAIM} See S2.</answer>`, finish_reason: 'length' };
    const { reward } = await scorer.score(rollout, { ...stopped, finding_penalty: { id_in_prose: 1 } });
    expect(reward).toBe(-2);
  });

  it('is set for findings about the answer alone, and is no negative number', async () => {
    const prices = [{ citation_missing: 1 }, { text_outside_answer: 1 }, { source_empty: 1 }, { id_in_prose: -1 }];
    for (const finding_penalty of [...prices, { unknown: 1 }]) {
      const read = await resolveRecipe({ base: 'refiner-rl-balanced', finding_penalty });
      expect(read.ok ? 'accepted' : read.error[0]?.path[1], JSON.stringify(finding_penalty)).toBe('finding_penalty');
    }
  });
});

describe.each(GRAMMAR_NAMES)('refiner-guarded, in the grammar %s,', (name) => {
  const recipe = { ...GUARDED, grammar: name };
  const write = CLAIM_WRITERS[name];
  const grammar: Grammar = GRAMMARS[name];
  const [own, other, invented] = name === 'link' ? ADDRESSES : ['S1', 'S2', 'S77'];
  const sources = ROW.sources.map(({ text }, n) => ({ id: n === 0 ? own : other, text }));
  const rewardOf = async (answer: string) => {
    const scored = await scorer.score({ ...ROW, sources, response: `<answer>${answer}</answer>` }, recipe);
    return { reward: scored.reward ?? Number.NaN, cost: scored.components['findings']?.contribution };
  };
  /** The markup of the grammar around nothing, without its end, and its end alone. */
  const { empty, open, close } =
    grammar.form === 'element'
      ? {
          empty: write({ text: '', ids: [other] }),
          open: write({ text: '', ids: [other] }).split('</')[0] ?? '',
          close: `</${grammar.element}>`,
        }
      : grammar.form === 'marker'
        ? { empty: `${grammar.open}${grammar.close}`, open: `${grammar.open}${other}`, close: grammar.close }
        : { empty: `[]()`, open: `[2](${other}`, close: '</cite>' };
  const claim = write({ text: 'The Aare is 288 kilometres long.', ids: [own] });

  it.each([
    ['an id of a source in the prose', ` See ${other}.`],
    // An address that no source has is an address, not an id.
    ['an id that no source has in the prose', ` See ${invented ?? other}.`],
    ['a source that is named instead of cited', ` According to ${other}, the Rhine is long.`],
    ['a last line of sources', `\nSources: ${own}, ${other}`],
    ['an empty citation', ` ${empty}`],
    ['an empty citation of another grammar', name === 'snippet' ? ' <cite></cite>' : ' <snippet></snippet>'],
    ['a closing tag alone', ' </snippet>'],
    ['a closing mark alone', `${close.length === 1 ? '</snippet>' : close}`],
    ['an open tag alone', ` It ends <${name === 'snippet' ? 'snippet' : 'cite'} id=${other}>here.`],
    ['an unclosed citation', ` It ends here ${open}`],
    ['an end inside a tag', ' It ends <snippet i'],
  ])('pays less for %s than for the same answer without', async (_, leak) => {
    const honest = await rewardOf(`It is long: ${claim}`);
    const leaky = await rewardOf(`It is long: ${claim}${leak}`);
    expect(honest).toEqual({ reward: 10, cost: 0 });
    expect(leaky.cost ?? 0).toBeLessThan(0);
    expect(leaky.reward).toBeLessThan(honest.reward);
  });

  it('pays less for a claim that names its source than for the same claim without', async () => {
    const honest = await rewardOf(`It is long: ${claim}`);
    const leaky = await rewardOf(
      `It is long: ${write({ text: `The Aare is 288 kilometres long, says ${own}.`, ids: [own] })}`,
    );
    expect(leaky.cost ?? 0).toBeLessThan(0);
    expect(leaky.reward).toBeLessThan(honest.reward);
  });
});

it('refiner-guarded pays a right answer that cites all of three sources less than two fifths of the honest one', async () => {
  const sources = [...ROW.sources, { id: 'S3', text: 'The Reuss is 164 kilometres long.' }];
  const rewardOf = async (ids: string) => {
    const response = `<answer>${CLAIM.replace('S1', ids)}</answer>`;
    return (await scorer.score({ ...ROW, sources, response }, GUARDED)).reward;
  };
  expect(await rewardOf('S1')).toBe(10);
  expect(await rewardOf('S1,S2,S3')).toBeLessThan(4);
});

describe('a replay', () => {
  const ANSWER = `${CLAIM} See S2.`;
  const rowOf = async (recipe: RefinerRecipe): Promise<LedgerRow> => {
    const { facts, reward } = await score(ANSWER, recipe);
    return {
      ...{ v: 1, run: 'r', step: 0, group: 'g', sample: '0', attempt: 0, grouping: 'given', content: '' },
      ...{ recipe: '', facts, judgments: [], reward, reason: null, recorded_at: '' },
    } as const;
  };

  it('changes the prices of a run that was recorded with prices', async () => {
    const dear = { ...GUARDED, finding_penalty: { id_in_prose: 2 } };
    const { samples } = replayGroup([await rowOf(GUARDED)], GUARDED, dear);
    expect(samples[0]?.after.reward).toBeCloseTo((samples[0]?.before.reward ?? Number.NaN) - 1.5, 12);
  });

  it('of a run recorded without prices takes the findings that the run counted, else names the gap', async () => {
    const row = await rowOf(BALANCED);
    const after = { ...BALANCED, finding_penalty: { id_in_prose: 2 } };
    expect(JSON.stringify(row.facts)).not.toContain('findings');
    expect(gapsOf([row], BALANCED, after)).toEqual([['recipe.finding_penalty']]);
    expect(composeRefiner(refinerFactsOf(row), after)).toMatchObject({ reward: null, reason: 'not_measured' });
    expect(gapsOf([row], BALANCED, { ...BALANCED, finding_penalty: {} })).toEqual([[]]);
    const counted = replayedRow(row, { findings: { id_in_prose: 1, citation_missing: 1 } });
    const [sample] = replayGroup([counted], BALANCED, after).samples;
    expect([sample?.gaps, sample?.before.reward]).toEqual([[], row.reward]);
    expect(sample?.after.reward).toBeCloseTo((row.reward ?? Number.NaN) - 2, 12);
    expect(replayedRow(row, { findings: null })).toBe(row);
  });

  it('of a panel takes them for each member', async () => {
    const panel = [{ judge: 'one', replicate: 0, facts: refinerFactsOf(await rowOf(BALANCED)) }];
    const row = await rowOf(BALANCED);
    const facts = { ...refinerFactsOf(row), panel };
    const after = { ...BALANCED, finding_penalty: { id_in_prose: 2 } };
    const [sample] = replayGroup(
      [replayedRow({ ...row, facts }, { findings: { id_in_prose: 1 } })],
      BALANCED,
      after,
    ).samples;
    expect(sample?.after.reward).toBeCloseTo((row.reward ?? Number.NaN) - 2, 12);
  });
});

function refinerFactsOf({ facts }: LedgerRow) {
  if (facts.family !== 'refiner') throw new Error('another family');
  return facts;
}
