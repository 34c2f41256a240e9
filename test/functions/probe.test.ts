/** `POST /v1/recipes/probe` in workerd: reports, stored judgments, failed judges, wrong requests. */
import { beforeEach, describe, expect, it } from 'vitest';
import { resolveRecipe } from '../../src/families/resolve.ts';
import { MAX_PROBE_ROWS, MAX_PROBE_SAMPLES } from '../../src/limits.ts';
import { probeReport } from '../../src/probe/probe-report.ts';
import { probeReplySchema } from '../../src/wire/probe.ts';
import { post, problemOf, ROLLOUT, send, wrongFields } from './api.ts';
import { COUNTING, counting, countingBackends, lexically, resetCounting } from './desk-judge.ts';
import { replaceParts } from './worker.ts';

replaceParts({ backendsOf: countingBackends });

beforeEach(resetCounting);

const { response, recipe: _recipe, ...ROW } = ROLLOUT;
const RECIPE = { base: 'refiner-rl-balanced', grammar: 'bracket', citations: 'required' };

async function probed(body: object) {
  const reply = await send(post('/v1/recipes/probe', { recipe: RECIPE, ...body }));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return probeReplySchema.parse(JSON.parse(text));
}

describe('POST /v1/recipes/probe', () => {
  it('reports what canned answers earn beside the best known answer', async () => {
    const reply = await probed({ rows: [{ id: 'aare', ...ROW }] });
    expect(reply).toMatchObject({ rows: 1, recipe: { name: null, reward_range: [0, 10] }, samples: null });
    expect(reply.best_known).toMatchObject({ rows: 1, from: { reference: 0, sample: 0, constructed: 1 } });
    const copy = reply.answers.find(({ name }) => name === 'first_sentence_1');
    expect(copy).toMatchObject({ rows: 1, unscored: 0 });
    expect(copy?.share).toBeCloseTo(Number(copy?.reward) / Number(reply.best_known.reward), 12);
    expect(copy?.reward).toBeGreaterThan(0);
    expect(reply.answers.find(({ name }) => name === 'it')).toMatchObject({ reward: 0, warns: false });
    expect(reply.answers.find(({ name }) => name === 'other_answer')?.not_given).toEqual({ no_other_row: 1 });
    expect(reply.measured).toBeUndefined();
    expect(new Set(reply.judges.map(({ kind }) => kind))).toEqual(new Set(['rubric', 'citations']));
  });

  it('returns facts from which the same report follows, under this recipe and under others', async () => {
    const rows = [ROW, { ...ROW, question: 'Where does the Aare rise?', reference: 'It rises at the Aare Glaciers.' }];
    const { measured = [], recipe, judges: _judges, ...report } = await probed({ rows, detail: 'rows' });
    const own = await resolveRecipe(RECIPE);
    const other = await resolveRecipe({ ...RECIPE, citation_weight: 0.2 });
    if (!own.ok || !other.ok) throw new Error('the recipe was refused');
    expect(recipe.digest).toBe(own.value.digest);
    expect(probeReport(measured, own.value.recipe)).toEqual(report);
    const replayed = probeReport(measured, other.value.recipe);
    const again = await probed({ rows, recipe: { ...RECIPE, citation_weight: 0.2 } });
    expect(again.answers).toEqual(replayed.answers);
    expect(JSON.stringify(measured)).not.toContain('Aare');
  });

  it('reads samples with their outcomes', async () => {
    const responses = [response, { response: '<answer>It is long. [S1]</answer>', outcome: 0, metrics: { words: 3 } }];
    const reply = await probed({ rows: [{ ...ROW, responses }] });
    expect(reply.samples).toMatchObject({ groups: 1, samples: 2, with_signal: 1, unscored: 0 });
    expect(reply.samples?.follows.outcome.correlation).toBeNull();
  });

  it('asks a judge once for each answer, and takes stored judgments the next time', async () => {
    const body = { rows: [{ ...ROW, question: 'How long is it, once?' }], judge: COUNTING };
    const { answers } = await probed(body);
    const given = 1 + answers.filter(({ rows }) => rows > 0).length;
    expect(counting.calls.length).toBeGreaterThan(given);
    expect(counting.calls.length).toBeLessThanOrEqual(2 * given);
    resetCounting();
    await probed(body);
    expect(counting.calls).toEqual([]);
    await problemOf(
      await send(post('/v1/recipes/probe', { ...body, recipe: RECIPE, seed: 1, judgments: 'only', replicate: 7 })),
      409,
      'judgment_missing',
    );
  });

  it('counts answers that a judge failed on, and is an error on request', async () => {
    counting.answer = async (request) =>
      request.kind === 'rubric' && request.answer.includes('It')
        ? { ok: false, failure: { reason: 'judge_refusal', detail: 'as told', retryable: false } }
        : lexically(request);
    const body = { rows: [{ ...ROW, question: 'How long is it, failing?' }], judge: COUNTING, recipe: RECIPE };
    const reply = await probed(body);
    const failed = reply.answers.find(({ name }) => name === 'it_cited');
    expect(failed).toMatchObject({ rows: 0, reward: null, share: null, unscored: 1, warns: false });
    expect(reply.answers.find(({ name }) => name === 'first_sentence_1')).toMatchObject({ rows: 1, unscored: 0 });
    await problemOf(
      await send(post('/v1/recipes/probe', { ...body, on_judge_failure: 'error' })),
      503,
      'judge_refusal',
    );
  });

  it('names what is wrong', async () => {
    const refused = async (fields: object) =>
      wrongFields(await send(post('/v1/recipes/probe', { recipe: RECIPE, rows: [ROW], ...fields })));
    expect(await refused({ rows: [] })).toEqual(['rows']);
    expect(await refused({ rows: Array.from({ length: MAX_PROBE_ROWS + 1 }, () => ROW) })).toEqual(['rows']);
    const { positive_rubrics: _positive, negative_rubrics: _negative, ...bare } = ROW;
    expect(await refused({ rows: [ROW, bare] })).toEqual(['rows[1].positive_rubrics']);
    expect(await refused({ rows: [{ ...ROW, answer: 'x' }] })).toEqual(['rows[0].answer']);
    const many = { ...ROW, responses: Array.from({ length: 64 }, () => 'x') };
    const rows = Array.from({ length: Math.ceil((MAX_PROBE_SAMPLES + 1) / 64) }, () => many);
    expect(await refused({ rows })).toEqual(['rows']);
    expect(await refused({ recipe: 'refiner-rl-balancd' })).toEqual(['recipe']);
    expect(await refused({ recipe: 'grpo-tcr' })).toEqual(['recipe']);
    expect(await refused({ judge: 'lexical', judges: { members: ['lexical', 'other'] } })).toEqual(['judges']);
  });
});
