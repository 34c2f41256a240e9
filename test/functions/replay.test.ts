/**
 * `POST /v1/runs/{id}/replay` through the API: replays are exact, complete or refused, and judge rollouts on request.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { recordRollouts } from '../../functions/ledger/run-recording.ts';
import { removeRun } from '../../functions/ledger/run-removal.ts';
import { LEDGER_PAGE_ROWS } from '../../functions/ledger/run-rows.ts';
import { digestJson } from '../../src/digest.ts';
import { RECIPES } from '../../src/families/composers.ts';
import { planReplay } from '../../src/runs/plan-replay.ts';
import { incompletenessOf, rolloutCounts } from '../../src/runs/recorded-score.ts';
import { replayLines } from '../../src/runs/replay-lines.ts';
import type { LedgerRow } from '../../src/runs/row.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { type ReplayInput, replayRequestSchema } from '../../src/wire/replay.ts';
import { type ReplayLine, type ReplayLineOf, replayLineSchema } from '../../src/wire/replay-reply.ts';
import { syntheticRun } from '../unit/runs/synthetic-rows.ts';
import { post, problemOf, ROLLOUT, score, send, wrongFields } from './api.ts';
import { stubBackends } from './stub-judges.ts';
import { replaceParts } from './worker.ts';

replaceParts({ backendsOf: stubBackends });

const STORES = { project: 'default', db: env.DB, bucket: env.FILES, objects: env.RUN_LEDGER, shards: 1 };
const RECIPE = RECIPES['refiner-gpt54-instance-rubric'];

/** Rows of a long run, as the ledger keeps them. */
async function recordSynthetic(run: string, rollouts: number, perStep = 64): Promise<LedgerRow[][]> {
  const digest = digestJson(RECIPE);
  const groups = [...syntheticRun(rollouts, perStep)].map((rows) =>
    rows.map((row) => ({ ...row, run, recipe: digest })),
  );
  const all = groups.flat();
  for (let from = 0; from < all.length; from += 64) {
    const result = await recordRollouts(STORES, {
      run,
      family: 'refiner',
      recipes: [{ digest, name: 'refiner-gpt54-instance-rubric', recipe: RECIPE }],
      rollouts: all.slice(from, from + 64).map(({ v, facts, judgments, reward, reason, ...place }) => ({
        ...place,
        stored: { v, facts, judgments, reward, reason },
        counts: rolloutCounts(facts, { chars: null, findings: null }),
        statistics: { lacking: incompletenessOf(facts, reward), components: {}, judgments: 0, cached: 0 },
        report: null,
        rollout: null,
      })),
      shared: {},
      store_text: false,
      now: Date.now(),
    });
    expect(result.status).toBe('done');
  }
  return groups;
}

/** Three rollouts of one prompt, scored by the lexical judge and recorded. */
async function recordScored(run: string, fields: object, samples = 3): Promise<void> {
  const closing = [' It is long.', ' It joins the Rhine.', ' Many swim in it.'];
  for (let sample = 0; sample < samples; sample++) {
    const response = ROLLOUT.response.replace('</answer>', `${closing[sample] ?? ''}</answer>`);
    await score({ ...ROLLOUT, response, judge: 'lexical', run: { id: run, step: 0, group: 'g', sample }, ...fields });
  }
}

function request(run: string, input: ReplayInput): Promise<Response> {
  return send(post(`/v1/runs/${run}/replay`, input));
}

function parsedReplay(text: string): ReplayLine[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => replayLineSchema.parse(JSON.parse(line)));
}

async function replayed(run: string, input: ReplayInput): Promise<ReplayLine[]> {
  const reply = await request(run, input);
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/jsonl');
  return parsedReplay(text);
}

function only<K extends ReplayLine['kind']>(lines: readonly ReplayLine[], kind: K): ReplayLineOf<K>[] {
  return lines.filter((line): line is ReplayLineOf<K> => line.kind === kind);
}

function summaryOf(lines: readonly ReplayLine[]): ReplayLineOf<'summary'> {
  const last = lines.at(-1);
  if (last?.kind !== 'summary') throw new Error(`the last line is ${JSON.stringify(last)}`);
  return last;
}

async function* streamed<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

describe('replay of what was observed', () => {
  it('gives what the library gives for the same rows, bit for bit, and asks no judge', async () => {
    const groups = await recordSynthetic('exact', 320);
    const recorded = new Map([[digestJson(RECIPE), RECIPE]]);
    for (const input of [
      { recipe: { set: { citation_weight: 0.55, instance_rubrics_only: true } }, advantages: 'verl', samples: true },
      { sweep: { field: 'citation_weight', values: [0, 0.5, 1] } },
    ] satisfies ReplayInput[]) {
      const planned = await planReplay('exact', recorded, replayRequestSchema.parse(input));
      if (!planned.ok) throw new Error('no plan');
      let expected = '';
      for await (const line of replayLines(streamed(groups), planned.value)) expected += `${JSON.stringify(line)}\n`;
      const text = await (await request('exact', input)).text();
      expect(text === expected).toBe(true);
      expect(summaryOf(parsedReplay(text)).judge_calls).toBe(0);
    }
  });

  it('is under another weight for contradictions and another price for invented quotations', async () => {
    const recipe = { base: 'refiner-rl-balanced', citation_weight: 1, ask_contradiction: true };
    const closing = [
      '<snippet id=S1>The Aare is 310 kilometres long.</snippet>',
      'The guide says “the water is as warm as tea in every single summer”.',
      '<snippet id=S1>It is Swiss.</snippet>',
    ];
    for (const [sample, more] of closing.entries()) {
      const response = ROLLOUT.response.replace('</answer>', `${more}</answer>`);
      const run = { id: 'weights', step: 0, group: 'g', sample };
      await score({ ...ROLLOUT, response, recipe, judge: 'lexical', run });
    }
    const rewardsUnder = async (set: object) => {
      const lines = await replayed('weights', { recipe: { set }, samples: true });
      expect(summaryOf(lines)).toMatchObject({ judge_calls: 0, figures: { gaps: {}, recorded: { equal: 3 } } });
      return only(lines, 'sample').map(({ before, after }) =>
        before.reward === null || after.reward === null ? null : Math.sign(after.reward - before.reward),
      );
    };
    expect(await rewardsUnder({ contradiction: 3 })).toEqual([-1, 0, 0]);
    expect(await rewardsUnder({ finding_penalty: { quotation_invented: 0.5 } })).toEqual([0, -1, 0]);
    expect(await rewardsUnder({ contradiction: 3, finding_penalty: { quotation_invented: 0.5 } })).toEqual([-1, -1, 0]);
  });

  it('draws the criteria of a dropout by step and group, and replays each draw', async () => {
    const recipe = { base: 'refiner-guarded', dropout: { share: 0.5, seed: 1 } };
    const positive_rubrics = Array.from({ length: 12 }, (_, n) => ({ description: `States fact ${n}` }));
    const leftOut = async (step: number, sample: number): Promise<string> => {
      const run = { id: 'dropout', step, group: 'aare', sample };
      const reply = await score({ ...ROLLOUT, positive_rubrics, recipe, judge: 'lexical', run });
      return reply.criteria.flatMap(({ key, left_out }) => (left_out === true ? [key] : [])).join();
    };
    const draws = await Promise.all([0, 1, 2, 3].map((step) => leftOut(step, 0)));
    expect(new Set(draws).size).toBe(4);
    expect(await leftOut(2, 1)).toBe(draws[2]);
    const replayOf = async (dropout: object) => summaryOf(await replayed('dropout', { recipe: { set: { dropout } } }));
    const { figures, judge_calls } = await replayOf(recipe.dropout);
    expect([judge_calls, figures]).toMatchObject([
      0,
      { gaps: {}, shift: { compared: 5, mean: 0 }, recorded: { equal: 5 } },
    ]);
    expect((await replayOf({ share: 0.9, seed: 2 })).figures).toMatchObject({ gaps: {}, after: { scored: 5 } });
  });

  it('normalises over the steps of a run under a GDPO rule', async () => {
    const groups = await recordSynthetic('gdpo', 128);
    const input: ReplayInput = { recipe: { set: { instance_rubrics_only: true } }, advantages: 'nemo-gdpo' };
    const planned = await planReplay('gdpo', new Map([[digestJson(RECIPE), RECIPE]]), replayRequestSchema.parse(input));
    if (!planned.ok) throw new Error(JSON.stringify(planned.error));
    const expected: ReplayLine[] = [];
    for await (const line of replayLines(streamed(groups), planned.value)) expected.push(replayLineSchema.parse(line));
    const lines = await replayed('gdpo', input);
    expect(lines).toEqual(expected);
    expect(only(lines, 'step').map(({ step }) => step)).toEqual([0, 1]);
    for (const step of [0, 1]) {
      const all = only(lines, 'group')
        .filter((group) => group.step === step)
        .flatMap(({ after }) =>
          after.rewards.flatMap((reward, n) => (reward === null ? [] : [after.advantages[n] ?? 0])),
        );
      expect(all.reduce((sum, one) => sum + one, 0)).toBeCloseTo(0, 9);
      expect(all.reduce((sum, one) => sum + one ** 2, 0) / (all.length - 1)).toBeCloseTo(1, 9);
    }
  });

  it('reads only the steps that are asked for', async () => {
    await recordSynthetic('steps', 80, 32);
    const lines = await replayed('steps', { recipe: { set: { citation_weight: 1 } }, steps: { from: 1, to: 1 } });
    expect(only(lines, 'step').map(({ step, rollouts }) => [step, rollouts])).toEqual([[1, 32]]);
    expect(summaryOf(lines).rollouts).toBe(32);
  });

  it('ends with an error line where the run goes while it is read', async () => {
    await recordSynthetic('going', LEDGER_PAGE_ROWS + 80, 32);
    const reply = await request('going', { recipe: { set: { citation_weight: 0.5 } } });
    const reader = (reply.body ?? new Blob([]).stream()).getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader.read()).value, { stream: true });
    // The rest of the run has not been read, because the client has not requested it.
    await removeRun(STORES, 'going', Date.now());
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    const lines = parsedReplay(text);
    expect(lines.at(-1)).toMatchObject({ kind: 'error', problem: { status: 409, reason: 'run_gone' } });
    expect(only(lines, 'summary')).toEqual([]);
    expect(only(lines, 'group').length).toBeLessThan((LEDGER_PAGE_ROWS + 80) / 8);
  });
});

describe('replay of what was not observed', () => {
  it('is refused with what is missing, counted', async () => {
    const groups = await recordSynthetic('gaps', 64);
    const answered = groups.flat().filter(({ facts }) => facts.family === 'refiner' && facts.has_answer).length;
    const change = { recipe: { set: { judging: 'per_criterion' } } };
    const problem = await problemOf(await request('gaps', change), 409, 'measurement_missing');
    expect(problem.unobserved).toEqual({ 'recipe.judging': answered });
    expect(problem.detail).toContain(`recipe.judging in ${answered}`);
    expect(problem.detail).toContain('score the rollouts again');
    const filled = await problemOf(await request('gaps', { ...change, fill: true }), 409, 'text_not_kept');
    expect(filled.unobserved).toEqual({ 'recipe.judging': answered });
    await problemOf(await request('gaps', { judge: 'lexical' }), 409, 'text_not_kept');
  });

  it('is judged from the kept text with fill, once', async () => {
    const run = { store_text: true, replicate: 0 };
    await recordScored('fill', run);
    const change = { recipe: { set: { judging: 'per_criterion' } } };
    const problem = await problemOf(await request('fill', change), 409, 'measurement_missing');
    expect(problem.detail).toContain('"fill": true');
    const asked = { ...change, fill: true, judge: 'lexical' };
    const first = await replayed('fill', asked);
    expect(summaryOf(first)).toMatchObject({ rollouts: 3, measured: { rollouts: 3, without_text: 0, refused: 0 } });
    expect(summaryOf(first).judge_calls).toBeGreaterThan(0);
    const [group] = only(first, 'group');
    const recipe = { base: 'refiner-gpt54-instance-rubric', judging: 'per_criterion' };
    const scored = await score({
      ...ROLLOUT,
      response: ROLLOUT.response.replace('</answer>', ' It is long.</answer>'),
      judge: 'lexical',
      recipe,
      judgments: 'only',
    });
    expect(group?.after.rewards[0]).toBe(scored.reward);
    expect(group?.before.rewards.every((reward) => reward !== null)).toBe(true);
    expect(summaryOf(await replayed('fill', asked)).judge_calls).toBe(0);
  });

  it('reads an answer within the limits that it shared when it was recorded', async () => {
    const claims = '<snippet id=S1>The Aare is 288 kilometres long.</snippet>'.repeat(251);
    const { response, ...shared } = ROLLOUT;
    const responses = [...Array.from({ length: 63 }, () => response), `<answer>${claims}</answer>`];
    const run = { id: 'shared-limits', step: 0, group: 'g' };
    const reply = await send(post('/v1/groups', { ...shared, responses, judge: 'lexical', run, store_text: true }));
    expect(reply.status, await reply.text()).toBe(200);
    const judged = await replayed('shared-limits', { judge: 'lexical' });
    expect(summaryOf(judged).measured).toEqual({ rollouts: 64, without_text: 0, refused: 0 });
    const [same] = only(judged, 'group');
    expect(same?.after.rewards).toEqual(same?.before.rewards);
    const change = { recipe: { set: { judging: 'per_criterion' } }, fill: true, judge: 'lexical' };
    const [group] = only(await replayed('shared-limits', change), 'group');
    const recipe = { base: ROLLOUT.recipe, judging: 'per_criterion' };
    const again = await send(post('/v1/groups', { ...shared, responses, judge: 'lexical', recipe }));
    const { rewards } = groupResponseSchema.parse(await again.json());
    expect(rewards.at(-1)).toBe(0);
    // A run orders its samples by their ids, as text.
    const order = [...responses.keys()].map(String).sort();
    expect(group?.after.rewards).toEqual(order.map((sample) => rewards[Number(sample)]));
  });

  it('ends with the reason where components differ only once all rollouts are judged', async () => {
    await recordScored('components', { store_text: true, replicate: 4 }, 1);
    const recipe = { base: 'refiner-gpt54-instance-rubric', non_stop_penalty: { enabled: true, value: -1 } };
    const place = { id: 'components', step: 0, group: 'g', sample: 'failed' };
    const failing = { judge: 'http_500', on_judge_failure: 'null', question: 'Where does the Aare end?' };
    await score({ ...ROLLOUT, ...failing, finish_reason: 'stop', recipe, store_text: true, run: place });
    const change = { recipe: { set: { citation_weight: 0.5 } }, advantages: 'nemo-gdpo' } as const;
    expect(summaryOf(await replayed('components', change)).figures?.after.scored).toBe(1);
    const lines = await replayed('components', { ...change, fill: true, judge: 'lexical' });
    const last = lines.at(-1);
    expect(last).toMatchObject({ kind: 'error', problem: { status: 422, reason: 'input_invalid' } });
    expect(last).toMatchObject({
      problem: {
        errors: [
          { path: 'advantages', message: expect.stringMatching(/^step 0: expected the same components .*non_stop/) },
        ],
      },
    });
  });

  it('counts the rollouts whose text was not kept among those whose was', async () => {
    await recordScored('some-text', { store_text: true, replicate: 1 }, 1);
    const place = { id: 'some-text', step: 0, group: 'g', sample: 'untold' };
    await score({ ...ROLLOUT, judge: 'lexical', replicate: 2, run: place });
    const change = { recipe: { set: { judging: 'per_criterion' } }, fill: true, judge: 'lexical' };
    const { measured, figures } = summaryOf(await replayed('some-text', change));
    expect(measured).toEqual({ rollouts: 1, without_text: 1, refused: 0 });
    expect(figures?.gaps).toEqual({ 'recipe.judging': 1, 'rollout.text': 1 });
    expect(figures?.after.scored).toBe(1);
  });

  it('judges again with another judge, keeps both, and compares them', async () => {
    await recordScored('judges', { store_text: true, replicate: 3 });
    const lines = await replayed('judges', { judge: 'vllm' });
    const { judges, measured, figures } = summaryOf(lines);
    expect(measured).toEqual({ rollouts: 3, without_text: 0, refused: 0 });
    expect(judges).toMatchObject({ judge: 'vllm', compared: 3, unmatched: 0 });
    const criteria = judges?.questions.find(({ question }) => question === 'criteria');
    expect(criteria?.pairs).toBe(18);
    expect(criteria?.table.flat().reduce((sum, count) => sum + count, 0)).toBe(18);
    expect(figures?.recorded).toEqual({ equal: 3, alone: 0, different: 0 });
    // The recorded rewards have not changed, and the other judge's verdicts can be replayed by themselves.
    expect(summaryOf(await replayed('judges', { judge: 'vllm' })).judge_calls).toBe(0);
    const same = summaryOf(await replayed('judges', { judge: 'lexical' }));
    expect(same.figures?.shift.mean).toBe(0);
    for (const { same: share } of same.judges?.questions ?? []) expect(share).toBe(1);
  });

  it('says which judges failed, and makes no number of it', async () => {
    // The stub's judges are one model: what another of them has judged would be found.
    await recordScored('failing', { store_text: true, question: 'Where does the Aare end?' }, 1);
    const { figures, judges } = summaryOf(await replayed('failing', { judge: 'http_500' }));
    expect(figures?.unscored.after).toEqual({ judge_error: 1 });
    expect(judges).toMatchObject({ compared: 0, unmatched: 1, questions: [] });
  });
});

describe('what is refused before the first line', () => {
  it('names what is wrong', async () => {
    await recordSynthetic('refused', 8);
    const weight = { recipe: { set: { citation_weight: 0.5 } } };
    await problemOf(await request('nobody', weight), 404, 'run_not_found');
    await problemOf(await request('no%20id', weight), 404, 'run_not_found');
    expect(await wrongFields(await request('refused', { recipe: { set: { citation_wieght: 1 } } }))).toEqual([
      'recipe.set.citation_wieght',
    ]);
    expect(await wrongFields(await request('refused', { recipe: 'grpo-tcr' }))).toEqual(['recipe']);
    expect(await wrongFields(await request('refused', {}))).toEqual(['recipe']);
    await problemOf(await request('refused', { ...weight, judge: 'nobody' }), 422, 'judge_unknown');
    expect(await wrongFields(await request('refused', { ...weight, advantages: 'verl-gdpo' }))).toEqual(['advantages']);
    const misspelt = { preset: 'trl-gdpo', weights: { citaton: 1 } } as const;
    expect(await wrongFields(await request('refused', { ...weight, advantages: misspelt }))).toEqual([
      'advantages.weights.citaton',
    ]);
  });

  it('is a run without steps, under a rule that normalises over a step', async () => {
    await recordScored('stepless', { run: { id: 'stepless', step: null, group: 'g', sample: 0 } }, 1);
    const input: ReplayInput = { recipe: { set: { citation_weight: 0.5 } }, advantages: 'trl-gdpo' };
    const refused = await request('stepless', input);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('rollouts of the run have no step');
  });
});
