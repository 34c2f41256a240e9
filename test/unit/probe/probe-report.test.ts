import { describe, expect, it } from 'vitest';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';
import type { Judge } from '../../../src/judgments/judge.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import type { CannedAnswerName } from '../../../src/probe/canned-answers.ts';
import { type ProbeReport, probeReport } from '../../../src/probe/probe-report.ts';
import type { ProbeRow } from '../../../src/probe/probe-row.ts';
import { bridgeRow, LIGHTHOUSE, lexicalOptions, probe, probed, recipeOf } from './rows.ts';

const HONEST = { base: 'refiner-rl-balanced', grammar: 'bracket', citations: 'required' };

function answerOf(report: ProbeReport, name: CannedAnswerName): ProbeReport['answers'][number] {
  const found = report.answers.find((answer) => answer.name === name);
  if (found === undefined) throw new Error(`no answer ${name}`);
  return found;
}

async function reportOn(rows: readonly ProbeRow[], input: Parameters<typeof recipeOf>[0]): Promise<ProbeReport> {
  const recipe = await recipeOf(input);
  return probeReport(await probed(rows, recipe), recipe.recipe);
}

describe('probeReport', () => {
  it('warns of a copied first sentence that misses the criterion, and of nothing that earns little', async () => {
    const report = await reportOn([bridgeRow(), LIGHTHOUSE], HONEST);
    expect(report.best_known).toEqual({
      reward: 10,
      rows: 2,
      criteria_met: 1,
      from: { reference: 0, sample: 0, constructed: 2 },
    });
    const copy = answerOf(report, 'first_sentence_1');
    expect(copy).toMatchObject({ rows: 2, best_known: 10, unscored: 0, not_given: {}, warns: true });
    expect(copy.share).toBeCloseTo(Number(copy.reward) / 10, 12);
    expect(copy.share).toBeGreaterThan(0.7);
    expect(answerOf(report, 'it')).toMatchObject({ reward: 0, share: 0, warns: false, lowered_by: [] });
    expect(answerOf(report, 'first_sentence_3')).toMatchObject({ rows: 1, not_given: { no_source: 1 } });
    expect(report.warnings.map(({ answer }) => answer)).toContain('first_sentence_1');
    expect(report.warnings.find(({ answer }) => answer === 'first_sentence_1')?.text).toBe(
      `an answer that copies and cites the first sentence of source 1 earns ${Math.round(100 * (copy.share ?? 0))} % of ` +
        'the best known answer',
    );
  });

  it('shows pasted rubrics and never warns of them', async () => {
    const report = await reportOn([bridgeRow(), LIGHTHOUSE], HONEST);
    expect(answerOf(report, 'criteria_cited').share).toBeGreaterThan(0.9);
    expect(report.warnings.map(({ answer }) => answer)).not.toContain('criteria_cited');
  });

  it('lists changes that lower an answer with what they leave: the same facts under the changed recipe', async () => {
    const recipe = await recipeOf('refiner-rl-balanced');
    const rows = await probed([bridgeRow(), LIGHTHOUSE], recipe);
    const before = answerOf(probeReport(rows, recipe.recipe), 'first_sentence_1');
    expect(before.lowered_by.length).toBeGreaterThan(0);
    for (const { set, share, best_known, warns } of before.lowered_by) {
      expect(share).toBeLessThanOrEqual((before.share ?? 0) - 0.05);
      const changed = await recipeOf({ base: 'refiner-rl-balanced', ...set });
      const after = probeReport(rows, changed.recipe);
      expect(answerOf(after, 'first_sentence_1').share).toBe(share);
      expect(after.best_known.reward).toBe(best_known);
      expect(after.answers.flatMap((answer) => (answer.warns ? [answer.name] : []))).toEqual(warns);
    }
  });

  it('finds changes that help together', async () => {
    const recipe = await recipeOf('refiner-gpt54-instance-rubric');
    const vacuous = { ...bridgeRow().prompt, negative_rubrics: Array.from({ length: 4 }, faultOf) };
    const rows = await probed([{ id: 1, prompt: vacuous, samples: [] }], recipe);
    const report = probeReport(rows, recipe.recipe);
    expect(answerOf(report, 'refusal').warns).toBe(true);
    expect(report.together?.set).toMatchObject({ negatives_require_positive: true });
    expect(report.together?.warns).not.toContain('refusal');
    const changed = await recipeOf({ base: 'refiner-gpt54-instance-rubric', ...report.together?.set });
    const shares = probeReport(rows, changed.recipe).answers.flatMap(({ name, share }) =>
      name.startsWith('criteria') ? [] : (share ?? []),
    );
    expect(Math.max(...shares)).toBe(report.together?.share);
  });

  it('suggests no change that needs other judgments, rescales the reward, takes most of it or drops a part of it', async () => {
    const report = await reportOn([bridgeRow(), LIGHTHOUSE], 'refiner-rl-balanced');
    const fields = report.answers.flatMap(({ lowered_by }) => lowered_by.flatMap(({ set }) => Object.entries(set)));
    expect(fields.map(([field]) => field)).not.toContain('judge_static');
    expect(fields).not.toContainEqual(['mix', 'additive']);
    expect(fields).not.toContainEqual(['citations', 'forbidden']);
    // It would leave nothing for the rubric.
    expect(fields).not.toContainEqual(['citation_weight', 1]);
  });

  it('warns of rows without a positive criterion of their own, and of criteria that the best known answers miss', async () => {
    const without = bridgeRow({ positive_rubrics: [], negative_rubrics: [faultOf(0, 0)] });
    expect((await reportOn([without, LIGHTHOUSE], 'refiner-rl-balanced')).warnings[0]).toMatchObject({
      kind: 'no_own_criteria',
      text: expect.stringContaining('1 of 2 rows'),
    });
    const unmet = bridgeRow({ positive_rubrics: [{ description: 'Explains why the commission chose Halvorsund' }] });
    expect((await reportOn([unmet], 'refiner-rl-balanced')).warnings[0]?.kind).toBe('criteria_unmet');
  });

  it('gives the same answers to one row in every grammar', async () => {
    const of = (grammar: string) => reportOn([addressed(bridgeRow())], { base: 'refiner-rl-balanced', grammar });
    const rewards = async (grammar: string) =>
      Object.fromEntries((await of(grammar)).answers.map(({ name, reward }) => [name, reward]));
    const inSnippets = await rewards('snippet');
    expect(inSnippets['first_sentence_1']).toBeGreaterThan(5);
    for (const grammar of GRAMMAR_NAMES) expect([grammar, await rewards(grammar)]).toEqual([grammar, inSnippets]);
  });
});

function faultOf(_: unknown, n: number): { readonly description: string } {
  return { description: `Says that the ferry number ${n} sank` };
}

/** The row with addresses as ids, which every grammar can cite. */
function addressed({ id, prompt, samples }: ProbeRow): ProbeRow {
  const sources = (prompt.sources ?? []).map((source) => ({ ...source, id: `https://pages.example/${source.id}` }));
  return { id, prompt: { ...prompt, sources }, samples };
}

describe('the best known answer', () => {
  const from = async (row: ProbeRow) => (await reportOn([row], HONEST)).best_known;

  it('is the reference: a text is written and cited, a whole response is taken as it is', async () => {
    const text = await from(bridgeRow({ reference: 'The Velmar footbridge was opened to walkers in the year 1904.' }));
    expect(text).toMatchObject({ reward: 10, from: { reference: 1, sample: 0, constructed: 0 } });
    const response = await from(bridgeRow({ reference: '<answer>It was opened in 1904. [S1]</answer>' }));
    expect(response.from.reference).toBe(1);
    expect(response.reward).toBeLessThan(10);
  });

  const sample = (text: string, outcome: number | null = null): ProbeRow['samples'][number] => ({
    rollout: { ...bridgeRow().prompt, response: `<answer>${text}</answer>` },
    outcome,
  });
  const RIGHT = 'The Velmar footbridge was opened to walkers in the year 1904. [S2]';
  const WRONG = 'The Velmar footbridge lies in a valley of orchards. [S1]';

  it('is the sample with the best outcome, then with the most criteria met', async () => {
    const rows = await probed([bridgeRow({}, [sample(WRONG), sample(RIGHT)])], await recipeOf(HONEST));
    expect(rows[0]?.best_known).toEqual({ from: 'sample', facts: rows[0]?.samples[1]?.facts });
    const judged = await probed([bridgeRow({}, [sample(WRONG, 1), sample(RIGHT, 0)])], await recipeOf(HONEST));
    expect(judged[0]?.best_known?.from).toBe('constructed');
  });

  it('is the constructed answer where the best sample meets less, or as much and earns less', async () => {
    const uncited = await from(bridgeRow({}, [sample(RIGHT.replace(' [S2]', ' (see S2)'))]));
    expect(uncited.from).toEqual({ reference: 0, sample: 0, constructed: 1 });
    expect((await from(bridgeRow({}, [sample(WRONG)]))).from).toEqual({ reference: 0, sample: 0, constructed: 1 });
  });
});

describe('samples', () => {
  const response = (sentences: number) =>
    `<answer>${Array.from({ length: sentences }, (_, n) => `The council wrote remark number ${n}.`).join(' ')} ` +
    'It opened in the year 1904. [S2]</answer>';
  const group = (id: number): ProbeRow => {
    const { prompt } = bridgeRow();
    return {
      id,
      prompt,
      samples: [0, 1, 2, 3].map((sentences) => ({
        rollout: { ...prompt, response: response(sentences) },
        outcome: 3 - sentences,
      })),
    };
  };

  it('reports what the reward follows inside groups, from 16 groups on', async () => {
    const recipe = await recipeOf(HONEST);
    const rows = await probed(
      Array.from({ length: 16 }, (_, id) => group(id)),
      recipe,
    );
    const { samples } = probeReport(rows, recipe.recipe);
    expect(samples).toMatchObject({ groups: 16, samples: 64, unscored: 0, with_signal: 16 });
    // Uncited remarks cost citation recall, so shorter answers earn more here.
    expect(samples?.follows.words).toEqual({ correlation: -1, groups: 16 });
    expect(samples?.follows.outcome).toEqual({ correlation: 1, groups: 16 });
    expect(samples?.follows.citations).toEqual({ correlation: null, groups: 0 });
    const fewer = probeReport(rows.slice(1), recipe.recipe);
    expect(fewer.samples?.follows.words).toEqual({ correlation: null, groups: 15 });
  });

  it('is null without two samples of a prompt', async () => {
    const recipe = await recipeOf(HONEST);
    expect(probeReport(await probed([bridgeRow()], recipe), recipe.recipe).samples).toBeNull();
  });
});

describe('families', () => {
  it('probes dr-tulu in both compat modes, with its transcript', async () => {
    const { positive_rubrics = [], ...prompt } = bridgeRow().prompt;
    const rubrics = positive_rubrics.map(({ description }) => ({ description, weight: 1 }));
    for (const name of ['dr-tulu', 'dr-tulu-exact'] as const) {
      const report = await reportOn([{ id: 1, prompt: { ...prompt, rubrics }, samples: [] }], name);
      expect(report.best_known.criteria_met).toBe(1);
      expect(report.best_known.reward).toBeGreaterThan(8);
      const copy = answerOf(report, 'first_sentence_1');
      expect(copy.reward).toBeGreaterThan(answerOf(report, 'it').reward ?? Number.NaN);
      expect(copy.reward).toBeLessThan(report.best_known.reward ?? Number.NaN);
    }
  });

  const gold = {
    question: 'In which year was the Velmar footbridge opened to walkers?',
    sources: (bridgeRow().prompt.sources ?? []).map((source) => ({
      ...source,
      url: `https://pages.example/${source.id}`,
    })),
    reference: '1904',
    entities: ['Velmar', '1904'],
    entity_rubrics: ['The footbridge was opened to walkers in the year <E0>'],
  };

  it('probes carr with links', async () => {
    const report = await reportOn([{ id: 1, prompt: gold, samples: [] }], 'carr');
    expect(report.best_known).toMatchObject({ reward: 1, from: { reference: 1 } });
    expect(answerOf(report, 'refusal').reward).toBe(0);
    expect(report.warnings.map(({ kind }) => kind)).not.toContain('no_own_criteria');
  });

  it('probes longtrace-rl without citations', async () => {
    const report = await reportOn([{ id: 1, prompt: gold, samples: [] }], 'longtrace-rl');
    expect(report.best_known.reward).toBeGreaterThan(0);
    expect(answerOf(report, 'it_cited')).toMatchObject({ rows: 0, not_given: { no_citations: 1 } });
    expect(answerOf(report, 'it').rows).toBe(1);
  });

  it('refuses a family without answers over sources', async () => {
    const refused = await probe([bridgeRow()], await recipeOf('grpo-tcr'));
    expect(refused).toMatchObject({ status: 'invalid', problems: [{ path: ['recipe'] }] });
  });
});

describe('probeRows', () => {
  it('names the row that lacks what the recipe reads', async () => {
    const { positive_rubrics: _, ...prompt } = bridgeRow().prompt;
    const refused = await probe([LIGHTHOUSE, { id: 2, prompt, samples: [] }], await recipeOf(HONEST));
    expect(refused).toMatchObject({ status: 'invalid', problems: [{ path: ['rows', 1, 'positive_rubrics'] }] });
  });

  it('counts what a failed judge leaves unscored, and computes shares without it', async () => {
    const recipe = await recipeOf('refiner-rl-balanced');
    const failing: Judge = {
      ...LEXICAL_JUDGE,
      name: 'failing',
      async judge(request, context) {
        if ('question' in request && request.question.includes('lighthouse')) {
          return { ok: false, failure: { reason: 'judge_timeout', detail: 'too slow', retryable: true } };
        }
        return LEXICAL_JUDGE.judge(request, context);
      },
    };
    const result = await probe([bridgeRow(), LIGHTHOUSE], recipe, {
      ...lexicalOptions(),
      judge: { ok: true, judge: failing },
    });
    if (result.status !== 'done') throw new Error(result.status);
    expect(result.failure?.reason).toBe('judge_timeout');
    const both = probeReport(result.rows, recipe.recipe);
    expect(answerOf(both, 'first_sentence_1')).toMatchObject({ rows: 1, unscored: 1 });
    expect(both.best_known.rows).toBe(1);
    const alone = await reportOn([bridgeRow()], 'refiner-rl-balanced');
    expect(answerOf(both, 'first_sentence_1').share).toBe(answerOf(alone, 'first_sentence_1').share);
  });

  it('holds no text of the rows', async () => {
    const rows = await probed([bridgeRow(), LIGHTHOUSE], await recipeOf(HONEST));
    expect(JSON.stringify(rows)).not.toMatch(/Velmar|orchards|1904|Torwick/u);
  });
});
