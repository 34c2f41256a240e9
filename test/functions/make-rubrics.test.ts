/** `POST /v1/rubrics`: what a model writes, what becomes of it, and what happens if it fails. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { JudgmentRequest } from '../../src/judgments/kinds/registry.ts';
import { criterionId, questionDigest } from '../../src/rubrics/rubric-set.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { type MakeRubricsReply, makeRubricsReplySchema } from '../../src/wire/make-rubrics.ts';
import { ORIGIN, post, problemOf, ROLLOUT, send, wrongFields } from './api.ts';
import { ended, line, outputLines, submit } from './batch-api.ts';
import { asked, down, scriptedBackends, scripts, writes } from './scripted-judges.ts';
import { replaceParts } from './worker.ts';

replaceParts({ backendsOf: scriptedBackends });

beforeEach(() => {
  scripts.clear();
  asked.clear();
});

const LENGTH = 'States that the Aare is 288 km long.';
const FEET = 'Gives the length in miles only.';
let rows = 0;
const fresh = (): string => `How long is the Aare? (${rows++})`;

async function made(body: object): Promise<MakeRubricsReply> {
  const reply = await send(post('/v1/rubrics', { judge: 'one', ...body }));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return makeRubricsReplySchema.parse(JSON.parse(text));
}

describe('criteria', () => {
  it('are checked, have ids, and are made once for equal requests', async () => {
    scripts.set('one', writes([LENGTH, 'Mentions that the Aare is 288 km long', 'Has at least 90 words.'], [FEET]));
    const question = fresh();
    const body = { question, tool_output: ROLLOUT.tool_output, responses: [ROLLOUT.response] };
    const reply = await made(body);
    expect(reply.criteria).toMatchObject([
      { polarity: 'positive', description: LENGTH, weight: 1 },
      { polarity: 'negative', description: FEET, weight: 1 },
    ]);
    const [first] = reply.criteria;
    const { title = '' } = first ?? {};
    const own = { polarity: 'positive', title, description: LENGTH } as const;
    expect(first?.id).toBe(criterionId(questionDigest(question), own));
    expect(reply.rejected.map(({ failed, of }) => [failed, of])).toEqual([
      ['duplicate', LENGTH],
      ['about_length', null],
    ]);
    expect(reply.judges).toMatchObject([{ kind: 'rubrics', model: 'model-one', cached: 0 }]);
    const again = await made(body);
    expect(again).toMatchObject({ criteria: reply.criteria, judgment: reply.judgment, judges: [{ cached: 1 }] });
    expect(asked.get('one')).toBe(1);
    expect((await made({ ...body, replicate: 1 })).judgment).not.toBe(reply.judgment);
    // Criteria that the prompt has are another question to the model.
    const existing = { active: [{ polarity: 'positive', description: LENGTH }] };
    const more = await made({ ...body, existing });
    expect(more.judgment).not.toBe(reply.judgment);
    expect(more.criteria.map(({ description }) => description)).toEqual([FEET]);
  });

  it('see the answers without their thinking, unless told otherwise', async () => {
    const seen: unknown[] = [];
    scripts.set('one', (request) => {
      seen.push('responses' in request ? request.responses : null);
      return writes([LENGTH], [])(request);
    });
    const question = fresh();
    const responses = ['<think>It may be 200 km.</think>It is 288 km long.'];
    const answers = await made({ question, responses });
    const whole = await made({ question, responses, reads: 'response' });
    expect(seen).toEqual([['It is 288 km long.'], responses]);
    expect(answers.responses).not.toEqual(whole.responses);
  });

  it('may be none, which is no failure', async () => {
    scripts.set('one', writes([], []));
    expect(await made({ question: fresh() })).toMatchObject({ criteria: [], rejected: [] });
  });
});

describe('groups under an evolving rubric', () => {
  const groupOf = async (step: number, run: string, generator = 'two') => {
    const { response, ...row } = ROLLOUT;
    const responses = [response, response.replace('288', '290'), `<think>It may be 200 km.</think>${response}`];
    const body = { ...row, responses, run: { id: run, step, group: `g${step}` }, evolution: { generator } };
    const reply = await send(post('/v1/groups', body));
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    return groupResponseSchema.parse(JSON.parse(text));
  };

  it('get criteria from a judge, which sees no thinking and what the prompt has', async () => {
    const seen: JudgmentRequest[] = [];
    scripts.set('two', (request) => {
      seen.push(request);
      return writes(['States that the Aare is the longest river within Switzerland.'], [])(request);
    });
    const first = await groupOf(0, 'made');
    expect(first.evolution?.generation).toMatchObject({ status: 'proposed', failure: null });
    expect(first.evolution?.next_set).not.toBe(first.evolution?.set);
    const second = await groupOf(1, 'made');
    expect(second.evolution?.set).toBe(first.evolution?.next_set);
    const [before, after] = seen.flatMap((request) => (request.kind === 'rubrics' ? [request] : []));
    expect(before?.responses.join()).not.toContain('200 km');
    expect(after?.existing).toContainEqual(
      expect.objectContaining({ description: expect.stringContaining('longest') }),
    );
    const log = await (await send(new Request(`${ORIGIN}/v1/runs/made/rubrics/${first.evolution?.prompt}`))).text();
    expect(log).toMatch(/"judgment":"[0-9a-f]{64}"/);
  });

  it('of the largest size are read whole, and POST /v1/rubrics takes what was made of them', async () => {
    scripts.set('two', writes([LENGTH], []));
    const question = fresh();
    const responses = Array.from({ length: 64 }, (_, n) => `<answer>It is ${n} km long.</answer>`);
    const rows = { ...{ question, responses, positive_rubrics: ['Gives a length'] }, recipe: ROLLOUT.recipe };
    const run = { id: 'whole-group', step: 0, group: 'g' };
    const body = { ...rows, tool_output: ROLLOUT.tool_output, run, evolution: { generator: 'two' } };
    const group = groupResponseSchema.parse(await (await send(post('/v1/groups', body))).json());
    expect(group.evolution?.generation).toMatchObject({ status: 'proposed', proposed: [{}] });
    const existing = { persistent: [{ polarity: 'positive', description: 'Gives a length' }] };
    const again = await made({ question, responses, existing, judge: 'two', judgments: 'only' });
    expect(again.responses).toHaveLength(64);
    expect(again.criteria).toMatchObject([{ description: LENGTH }]);
  });

  it('keep their set and their rewards if the judge fails', async () => {
    scripts.set('three', down);
    const { evolution, rewards } = await groupOf(0, 'unmade', 'three');
    expect(evolution?.generation).toMatchObject({ status: 'failed', failure: 'judge_unreachable' });
    expect(evolution?.next_set).toBe(evolution?.set);
    expect(rewards.every((reward) => reward !== null)).toBe(true);
  });
});

it('are made in batches, where a line that cannot be answered is an error', async () => {
  scripts.set('one', writes([LENGTH], []));
  const lines = [
    line('good', { question: fresh(), judge: 'one' }, '/v1/rubrics'),
    line('bad', { question: fresh(), judge: 'one', most: { positive: 99 } }, '/v1/rubrics'),
  ];
  const done = await ended((await submit(lines.join('\n'), '/v1/rubrics')).id);
  expect(done).toMatchObject({ status: 'completed', request_counts: { completed: 1, failed: 1 } });
  const [good] = await outputLines(done.output_file_id);
  expect(good).toMatchObject({ custom_id: 'good', response: { body: { criteria: [{ description: LENGTH }] } } });
});

describe('a generation that fails', () => {
  it('is a problem and never an empty list', async () => {
    scripts.set('one', down);
    await problemOf(await send(post('/v1/rubrics', { question: fresh(), judge: 'one' })), 503, 'judge_unreachable');
    // More criteria than were asked for answer another question.
    scripts.set('two', writes([LENGTH, FEET], []));
    const most = { positive: 1, negative: 0 };
    const tooMany = await send(post('/v1/rubrics', { question: fresh(), judge: 'two', most }));
    expect(tooMany.status).toBe(503);
  });

  it('goes to the next judge of a list', async () => {
    scripts.set('one', down);
    scripts.set('two', writes([LENGTH], []));
    expect(await made({ question: fresh(), judge: ['one', 'two'] })).toMatchObject({
      judges: [{ model: 'model-two' }],
    });
  });

  it('is a 409 where only stored generations are wanted', async () => {
    const only = { question: fresh(), judge: 'one', judgments: 'only' };
    await problemOf(await send(post('/v1/rubrics', only)), 409, 'judgment_missing');
    expect(asked.size).toBe(0);
  });
});

it.each([
  [{ question: '' }, ['question']],
  [{ question: 'q', most: { positive: 0, negative: 0 } }, ['most']],
  [{ question: 'q', most: { positive: 99 } }, ['most.positive']],
  [{ question: 'q', tool_output: 't', sources: [] }, ['tool_output']],
  [{ question: 'q', existing: { gone: [] } }, ['existing.gone']],
  [{ question: 'q', responses: [1] }, ['responses[0]']],
  [{ question: 'q', responses: Array.from({ length: 65 }, () => 'r') }, ['responses']],
])('%j is refused', async (body, fields) => {
  expect(await wrongFields(await send(post('/v1/rubrics', body)))).toEqual(fields);
});
