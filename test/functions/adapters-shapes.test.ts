/**
 * Requests and replies of the adapters, field by field as the trainers' clients define them, with the lexical judge.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { longTraceRlReplySchema } from '../../src/wire/adapters/longtracerl.ts';
import { nemoGymReplySchema } from '../../src/wire/adapters/nemo-gym.ts';
import { openRlhfReplySchema } from '../../src/wire/adapters/openrlhf.ts';
import { slimeReplySchema } from '../../src/wire/adapters/slime.ts';
import {
  adapterPath,
  BODIES,
  EXTRA_REWARD_INFO,
  LABEL,
  MESSAGES,
  REFINER,
  requestOf,
  TRAINERS,
} from './adapters-trainers.ts';
import { familyScoreOf, post, problemOf, ROLLOUT, score, send, wrongFields } from './api.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

async function jsonOf(request: Request): Promise<unknown> {
  const reply = await send(request);
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  return JSON.parse(text);
}

const objectOf = async (request: Request) => slimeReplySchema.options[1].parse(await jsonOf(request));

describe('slime', () => {
  it('is answered with a bare JSON number, the reward of /v1/score', async () => {
    const { reward, base, components, contributions, recipe } = await score(ROLLOUT);
    expect(await jsonOf(requestOf('slime'))).toBe(reward);
    expect(await objectOf(requestOf('slime', { reply: 'object' }))).toEqual({
      reward,
      base,
      status: 'scored',
      recipe: REFINER,
      digest: recipe.digest,
      rubric: components.rubric.value,
      citation: components.citation.value,
      format: components.format.value,
      rubric_contribution: contributions?.['rubric'],
      citation_contribution: contributions?.['citation'],
    });
  });

  it('takes the label as an object, as JSON text, or as a list with one of either', async () => {
    const { reward } = await score(ROLLOUT);
    for (const label of [LABEL, JSON.stringify(LABEL), [LABEL], [` ${JSON.stringify(LABEL)}`]]) {
      expect(await jsonOf(requestOf('slime', {}, { label }))).toBe(reward);
    }
  });

  it('reads the response as the answer of a vendor where the label names its format', async () => {
    const { tool_output: _, ...others } = LABEL;
    const sources = [{ id: 'https://aare.example', text: 'The Aare is 288 kilometres long.' }];
    const label = { ...others, sources, answer_format: 'markdown' };
    const asked = (response: string, fields: object) =>
      send(requestOf('slime', { reply: 'object' }, { response, label: { ...label, ...fields } }));
    const text = 'The Aare is 288 kilometres long [1].\n\n## References\n\n1. https://aare.example\n';
    const reply: unknown = await (await asked(text, {})).json();
    const plain = '<answer><snippet id="https://aare.example">The Aare is 288 kilometres long</snippet>.\n\n</answer>';
    expect(reply).toEqual(await (await asked(plain, { answer_format: undefined })).json());
    const url = { type: 'web_search_result_location', url: 'https://aare.example', title: 'A', cited_text: '288' };
    const message = [{ type: 'text', text: 'The Aare is 288 kilometres long', citations: [url] }];
    expect((await asked(JSON.stringify(message), { answer_format: 'anthropic' })).status).toBe(200);
    for (const wrong of [text, '{}']) {
      expect(await wrongFields(await asked(wrong, { answer_format: 'anthropic' }))).toEqual(['response']);
    }
  });

  it('takes the prompt for the question where the label has none: a text, or the last message of the user', async () => {
    const { question: _, ...label } = LABEL;
    const { reward } = await score(ROLLOUT);
    const prompts = [
      ROLLOUT.question,
      [
        { role: 'user', content: 'Hello' },
        { role: 'user', content: [{ type: 'text', text: ROLLOUT.question }] },
        { role: 'assistant', content: null },
      ],
    ];
    for (const prompt of prompts) {
      const run = await objectOf(requestOf('slime', { reply: 'object', run: 'r' }, { prompt, label }));
      expect(run.reward).toBe(reward);
    }
    expect(await wrongFields(await send(requestOf('slime', {}, { prompt: [], label })))).toEqual(['label.question']);
  });

  it('takes a plain text for the reference where the recipe has one', async () => {
    const body = { prompt: 'What is 1 + 1?', response: 'So \\boxed{2}' };
    const asked = (label: unknown, recipe = 'grpo-tcr') =>
      send(post(adapterPath('slime', { recipe }), { ...body, label }));
    expect(await wrongFields(await asked('2'))).toEqual(['label.num_turns', 'label.response_tokens']);
    expect(await wrongFields(await asked(['{2}']))).toEqual(['label[0].num_turns', 'label[0].response_tokens']);
    const whole = { reference: '2', num_turns: 2, response_tokens: 12 };
    expect(await (await asked(whole)).json()).toBe(1);
    expect(await (await asked({ ...whole, reference: '3' })).json()).toBe(-1);
    expect(await wrongFields(await asked('2', REFINER))).toEqual(['label']);
  });

  it('earns a plain 0 where the model gave no answer', async () => {
    expect(await jsonOf(requestOf('slime', {}, { response: 'I would rather not say.' }))).toBe(0);
  });
});

describe('longtracerl', () => {
  const rewardsOf = async (info: object, history: unknown = BODIES.longtracerl.history) =>
    longTraceRlReplySchema.parse(
      await jsonOf(requestOf('longtracerl', {}, { extra_reward_info: { ...EXTRA_REWARD_INFO, ...info }, history })),
    );

  it('is answered with all three rewards', async () => {
    expect(await rewardsOf({})).toEqual({ outcome_reward: 1, rubric_reward: 0.5, reward: 0.7 + 0.3 * 0.5 });
    expect(await rewardsOf({ rubric_use_reasoning_content: true })).toMatchObject({ rubric_reward: 1 });
    expect(await rewardsOf({ rubric_use_reasoning_content: true, rubric_use_content: false })).toMatchObject({
      rubric_reward: 0.5,
    });
    expect(await rewardsOf({ rubric_use_content: false })).toMatchObject({ rubric_reward: 0 });
  });

  it('looks for no entities in evaluation, and judges nothing where they are all', async () => {
    expect(await rewardsOf({ rubric_reward_ratio: 0 })).toEqual({ outcome_reward: 1, rubric_reward: 0, reward: 1 });
    const { rubric_use_content: _c, rubric_use_reasoning_content: _r, ...info } = EXTRA_REWARD_INFO;
    const evaluation = { ...info, rubric_reward_ratio: 0 };
    expect(await jsonOf(requestOf('longtracerl', {}, { extra_reward_info: evaluation }))).toMatchObject({ reward: 1 });
    expect(await rewardsOf({ rubric_reward_ratio: 1 })).toEqual({ outcome_reward: 0, rubric_reward: 0.5, reward: 0.5 });
  });

  it('reads chunk ids for the chunk data', async () => {
    const content = 'The Aare <useful_chunks><CHUNK_1><CHUNK_9></useful_chunks>';
    const history = [{ role: 'assistant', content }];
    const chunks = { dataset_name: 'longrlvr', rubrics: [1, 2, 3] };
    const f = 0.3571428571428571;
    expect((await rewardsOf(chunks, history)).reward).toBeCloseTo(1 + 0.3 * f + 0.7 * f, 12);
    expect((await rewardsOf({ ...chunks, rubric_reward_ratio: 1 }, history)).reward).toBeCloseTo(f, 12);
    expect((await rewardsOf({ ...chunks, rubric_reward_ratio: 0 }, history)).reward).toBe(1);
  });

  it('names missing arguments, where the server answers 500', async () => {
    const fields = async (body: object) => wrongFields(await send(post(adapterPath('longtracerl'), body)));
    const { label, extra_reward_info, history } = BODIES.longtracerl;
    expect(await fields({})).toEqual(['label', 'extra_reward_info']);
    expect(await fields({ label, extra_reward_info })).toEqual(['history']);
    expect(await fields({ label, extra_reward_info, history: [] })).toEqual(['history']);
    expect(await fields({ label, extra_reward_info: {}, history })).toEqual([
      'extra_reward_info.question',
      'extra_reward_info.dataset_name',
      'extra_reward_info.rubric_reward_ratio',
    ]);
    const { rubric_use_content: _, ...info } = EXTRA_REWARD_INFO;
    expect(await fields({ label, extra_reward_info: info, history })).toEqual(['extra_reward_info.rubric_use_content']);
    const numbered = { ...EXTRA_REWARD_INFO, rubrics: ['Aare', 3] };
    expect(await fields({ label, extra_reward_info: numbered, history })).toEqual(['extra_reward_info.rubrics[1]']);
    const chunked = { ...EXTRA_REWARD_INFO, dataset_name: 'longrlvr' };
    expect((await fields({ label, extra_reward_info: chunked, history }))[0]).toBe('extra_reward_info.rubrics[0]');
    const unread = [{ role: 'assistant', content: 3 }];
    expect(await fields({ label, extra_reward_info, history: unread })).toEqual(['history[0].content']);
  });

  it('takes recipes of its family only', async () => {
    expect(await jsonOf(requestOf('longtracerl', { recipe: 'longtrace-rl-chunks' }))).toMatchObject({
      reward: 0.7 + 0.3 * 0.5,
    });
    expect(await wrongFields(await send(requestOf('longtracerl', { recipe: REFINER })))).toEqual(['query.recipe']);
  });
});

describe('openrlhf', () => {
  const replyOf = async (fields: object = {}, query = {}) =>
    openRlhfReplySchema.parse(await jsonOf(requestOf('openrlhf', query, fields)));
  const {
    query: [query],
    prompts: [prompt],
    labels: [label],
  } = BODIES.openrlhf;

  it('is answered with lists as long as its own: reward, base and components', async () => {
    const { reward, base, components, contributions } = await score(ROLLOUT);
    const { rubric, citation, format } = components;
    expect(await replyOf()).toEqual({
      rewards: [reward],
      scores: [base],
      extra_logs: {
        rubric: [rubric.value],
        citation: [citation.value],
        format: [format.value],
        rubric_contribution: [contributions?.['rubric']],
        citation_contribution: [contributions?.['citation']],
      },
    });
    const silent = `${prompt}No.</s>`;
    const three = await replyOf({
      query: [query, silent, query],
      prompts: [prompt, prompt, prompt],
      labels: [label, label, label],
    });
    expect(three.rewards).toEqual([reward, 0, reward]);
    expect(three.scores).toEqual([base, 0, base]);
    expect(three.extra_logs).toEqual({
      rubric: [rubric.value, 0, rubric.value],
      citation: [citation.value, 0, citation.value],
      format: [format.value, 0, format.value],
      rubric_contribution: [contributions?.['rubric'], 0, contributions?.['rubric']],
      citation_contribution: [contributions?.['citation'], 0, contributions?.['citation']],
    });
  });

  it('finds the response behind the prompt, a prompt that lost its beginning too, and before the end tokens', async () => {
    const { reward } = await score(ROLLOUT);
    // An answer in the prompt is no answer of the policy's.
    const long = `Write <answer>like this</answer>. ${'Read this. '.repeat(20)}${prompt}`;
    const queries = [
      `${long}${ROLLOUT.response}`,
      `${long.slice(100)}${ROLLOUT.response}<|im_end|>`,
      `${long}${ROLLOUT.response} <|eot_id|><|end_of_text|>\n<|endoftext|>`,
    ];
    const reply = await replyOf({
      query: queries,
      prompts: queries.map(() => long),
      labels: queries.map(() => label),
    });
    expect(reply.rewards).toEqual(queries.map(() => reward));
    expect((await replyOf({ query: [ROLLOUT.response], prompts: [long] })).rewards).toEqual([reward]);
  });

  it('finds the response in linear time', async () => {
    const many = 400_000;
    const hostile: [query: string, prompt: string][] = [
      ['a'.repeat(many), `${'a'.repeat(many)}b`],
      [`${'ab'.repeat(many)}c`, `c${'ab'.repeat(many)}`],
      [`No.${'</s> '.repeat(many)}`, ''],
      [`No.${' '.repeat(2 * many)}x`, ''],
    ];
    for (const [text, own] of hostile) {
      const started = Date.now();
      const reply = await replyOf({ query: [text], prompts: [own] });
      expect(reply.rewards).toEqual([0]);
      // The clock of a Worker stops while it computes, so a quadratic search shows only as a test timeout.
      expect(Date.now() - started).toBeLessThan(10_000);
    }
  });

  it('is answered with empty lists for the empty shard of a server that is one of several', async () => {
    expect(await replyOf({ query: [], prompts: [], labels: [] })).toEqual({ rewards: [], scores: [], extra_logs: {} });
  });

  it('refuses lists of different lengths, and too long ones', async () => {
    const fields = async (body: object) => wrongFields(await send(requestOf('openrlhf', {}, body)));
    expect(await fields({ prompts: [] })).toEqual(['prompts']);
    expect(await fields({ prompts: [prompt, prompt], labels: [] })).toEqual(['prompts', 'labels']);
    const many = Array.from({ length: 65 }, () => '');
    expect(await fields({ query: many, prompts: many, labels: many })).toEqual(['query', 'prompts', 'labels']);
  });

  it('brings the base of every family into [0, 1]', async () => {
    const scoresOf = async (recipe: string, labels: readonly object[], texts: readonly string[]) => {
      const prompts = texts.map(() => 'Which river flows through Bern? ');
      const query = texts.map((text) => `Which river flows through Bern? ${text}`);
      return replyOf({ query, prompts, labels }, { recipe });
    };
    const maths = { reference: '2', num_turns: 4, response_tokens: 10 };
    const tools = await scoresOf('grpo-tcr', [maths, maths], ['\\boxed{2}', '\\boxed{3}']);
    expect(tools.scores).toEqual([1, 0]);
    expect(tools.rewards).toEqual([1, -0.9]);
    expect(Object.keys(tools.extra_logs)).toEqual(
      ['', '_contribution'].flatMap((end) => [`outcome${end}`, `tool_calls${end}`, `overlong${end}`]),
    );

    const chunks = { reference: 'the Aare', useful_chunks: [1], finish_reason: 'stop' };
    const text = 'The Aare <useful_chunks><CHUNK_1></useful_chunks>';
    const traces = await scoresOf('longtrace-rl-chunks', [chunks, chunks], [text, 'The Rhine']);
    expect(traces).toMatchObject({ rewards: [2, 0], scores: [1, 0] });

    const research = { tool_output: LABEL.tool_output, rubrics: [{ description: 'Names the Danube', weight: -1 }] };
    const tulu = await scoresOf('dr-tulu', [research, research], ['<answer>The Danube</answer>', 'nothing']);
    for (const score of tulu.scores) expect(score).toBeGreaterThanOrEqual(0);
  });

  it('has the same log names for every sample of a recipe', async () => {
    const names = async (recipe: string, response: string) => {
      const rubrics = [{ description: 'Names the Aare', weight: 1 }];
      const labels = [recipe === REFINER ? label : { tool_output: LABEL.tool_output, rubrics }];
      return Object.keys((await replyOf({ query: [prompt + response], labels }, { recipe })).extra_logs);
    };
    const samples = [ROLLOUT.response, 'No.', '<answer>Yes.</answer>', '<answer></answer>'];
    for (const recipe of [REFINER, 'dr-tulu', 'dr-tulu-no-citation']) {
      const [first, ...others] = await Promise.all(samples.map((sample) => names(recipe, sample)));
      for (const other of others) expect(other, recipe).toEqual(first);
    }
  });
});

describe('nemo-gym', () => {
  const replyOf = async (fields: object = {}) =>
    nemoGymReplySchema.parse(await jsonOf(requestOf('nemo-gym', {}, fields)));

  it('is answered with the row and its reward', async () => {
    const { reward, contributions } = await score(ROLLOUT);
    expect(Object.keys(contributions ?? {})).toEqual(['rubric', 'citation']);
    expect(await replyOf()).toEqual({
      ...BODIES['nemo-gym'],
      reward,
      reward_components: contributions,
      ...contributions,
    });
  });

  it('has components that add up to the reward, as NeMo RL demands, whatever decided it', async () => {
    const changes = [
      {},
      { response: { output: [{ type: 'message', role: 'assistant', content: 'I would rather not say.' }] } },
      { response: { output: [] } },
    ];
    const names = new Map<string, Set<string>>();
    const rubrics = [{ description: 'States the length', weight: 1 }];
    const labelFor = (recipe: string) =>
      recipe.startsWith('refiner') ? LABEL : { tool_output: LABEL.tool_output, rubrics };
    for (const recipe of [REFINER, 'refiner-rl-balanced', 'dr-tulu', 'dr-tulu-no-citation']) {
      for (const change of changes) {
        const { reward, reward_components } = nemoGymReplySchema.parse(
          await jsonOf(requestOf('nemo-gym', { recipe }, { citeward: labelFor(recipe), ...change })),
        );
        expect(Object.values(reward_components).reduce((sum, part) => sum + part, 0)).toBe(reward);
        names.set(recipe, (names.get(recipe) ?? new Set()).add(Object.keys(reward_components).join()));
      }
    }
    for (const [recipe, { size }] of names) expect(size, recipe).toBe(1);
    const info = { question: 'Which river?', reference: 'the Aare', entities: ['Aare'], finish_reason: 'stop' };
    const row = { response: { output: [{ role: 'assistant', content: 'The Aare' }] }, citeward: info };
    expect(await jsonOf(requestOf('nemo-gym', { recipe: 'longtrace-rl' }, row))).toMatchObject({
      reward: 1,
      reward_components: { combined: 1 },
    });
  });

  it('writes the components into the row too, over numbers of an earlier verification and nothing else', async () => {
    const earlier = { reward: 3, rubric: 2, search_turns: 1, reward_components: { rubric: 2, search_turns: 1 } };
    const reply = await replyOf({ ...earlier, citation: 'see page 3', other: 7 });
    expect(reply['rubric']).toBe(reply.reward_components['rubric']);
    expect(reply).toMatchObject({ citation: 'see page 3', other: 7 });
    expect(reply).not.toHaveProperty('search_turns');
  });

  it('reads the label from the top level where the row has no object of ours, among other fields', async () => {
    const { reward } = await score(ROLLOUT);
    const { citeward, ...row } = BODIES['nemo-gym'];
    const { question: _, ...label } = citeward;
    const reply = await jsonOf(
      post(adapterPath('nemo-gym'), { ...row, ...label, citeward: null, tests: null, agent_ref: { name: 'a' } }),
    );
    expect(reply).toMatchObject({ reward, agent_ref: { name: 'a' }, tool_output: label.tool_output });
    const wrong = await send(post(adapterPath('nemo-gym'), { ...row, ...label, positive_rubrics: [{}], nonsense: 1 }));
    expect(await wrongFields(wrong)).toEqual(['positive_rubrics[0].description']);
    const typo = { ...citeward, postive_rubrics: [] };
    expect(await wrongFields(await send(requestOf('nemo-gym', {}, { citeward: typo })))).toEqual([
      'citeward.postive_rubrics',
    ]);
  });

  it('judges what the assistant says after its last tool call', async () => {
    const { reward } = await score(ROLLOUT);
    const said = (text: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
    const call = { type: 'function_call', name: 'search', arguments: '{}', call_id: 'c' };
    const result = { type: 'function_call_output', call_id: 'c', output: LABEL.tool_output };
    const half = ROLLOUT.response.indexOf('<snippet id=S9>');
    const response = (output: unknown[]) => ({ response: { output } });
    const told = [said(ROLLOUT.response.slice(0, half)), said(ROLLOUT.response.slice(half))];
    const turns = [said('<answer>Let me search.</answer>'), call, result, ...told];
    expect((await replyOf(response(turns))).reward).toBe(reward);
    expect((await replyOf(response([...told, call, result]))).reward).toBe(reward);
    expect((await replyOf(response([call, result]))).reward).toBe(0);
    const refusal = [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }];
    expect((await replyOf(response(refusal))).reward).toBe(0);
    const broken = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text' }] }];
    expect(await wrongFields(await send(requestOf('nemo-gym', {}, response(broken))))).toEqual([
      'response.output[0].content[0].text',
    ]);
  });

  it('pays calls and results as it pays the same transcript as a text', async () => {
    const snippet = '<snippet id=S1>The Aare is 288 kilometres long.</snippet>';
    const answer = '<answer><cite id=S1>The Aare is 288 km long.</cite></answer>';
    const label = { rubrics: [{ description: 'States the length', weight: 1 }] };
    const asked = { recipe: 'dr-tulu', question: 'How long is the Aare?', ...label };
    const response = `<call_tool name="search">aare</call_tool>\n<tool_output>${snippet}</tool_output>\n${answer}`;
    const asText = await send(post('/v1/score', { ...asked, response }));
    const { reward } = await familyScoreOf('dr-tulu', asText);
    const row = {
      responses_create_params: { input: [{ role: 'user', content: asked.question }] },
      response: {
        output: [
          { type: 'function_call', name: 'search', arguments: '{"query":"aare"}', call_id: 'c' },
          { type: 'function_call_output', call_id: 'c', output: snippet },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: answer }] },
        ],
      },
      citeward: label,
    };
    const reply = await jsonOf(requestOf('nemo-gym', { recipe: 'dr-tulu' }, row));
    expect(reply).toMatchObject({ reward, reward_components: { format: 2 } });
  });

  it('hands back a number beyond doubles as such, not as null', async () => {
    const body = JSON.stringify({ ...BODIES['nemo-gym'], odd: 'HERE' }).replace(
      '"HERE"',
      '{"a":[1e400,1,"x"],"b":-1e400}',
    );
    const reply = await (await send(post(adapterPath('nemo-gym'), body))).text();
    expect(reply).toContain('"odd":{"a":[1e999,1,"x"],"b":-1e999}');
  });

  it('does not hand back the marks of an earlier failure', async () => {
    const reply = await replyOf({ reward: 0, _ng_failure_class: 'judge_failed', _ng_failure_judge_error: 'down' });
    expect(Object.keys(reply)).not.toContain('_ng_failure_class');
    expect(Object.keys(reply)).not.toContain('_ng_failure_judge_error');
    expect(reply.reward).toBeGreaterThan(0);
  });

  it('takes the mask of a failed judge off the row, and leaves every other mask', async () => {
    const judge = { mask_sample: true, failure_kind: 'judge_failed', failure_reason: 'HTTP 503' };
    const config = { instance_config: { mask_sample: true, image: 'x' } };
    const again = await replyOf({ reward: 0, _ng_failure_class: 'judge_failed', ...judge, ...config });
    for (const name of Object.keys(judge)) expect(Object.keys(again)).not.toContain(name);
    expect(again).toMatchObject({ instance_config: { image: 'x' } });
    expect(JSON.stringify(again)).not.toContain('mask_sample');
    expect(again.reward).toBeGreaterThan(0);

    const lost = { mask_sample: true, failure_kind: 'transport_peer_drop', failure_reason: 'lost', ...config };
    expect(await replyOf(lost)).toMatchObject(lost);
  });
});

describe('a transcript in one text', () => {
  it('is read with the markup that the label names', async () => {
    const { tool_output, ...label } = LABEL;
    const transcript = `I search.\n<search>aare</search>\n<information>${tool_output}</information>\n${ROLLOUT.response}`;
    const { reward } = await score(ROLLOUT);
    const marked = { ...label, trajectory: { markup: 'search_r1' } };
    expect(await jsonOf(requestOf('slime', {}, { response: transcript, label: marked }))).toBe(reward);
    const query = BODIES.openrlhf.query.map((text) => text.replace(ROLLOUT.response, transcript));
    const reply = await jsonOf(requestOf('openrlhf', {}, { query, labels: [JSON.stringify(marked)] }));
    expect(reply).toMatchObject({ rewards: [reward] });
    const wrong = { ...label, trajectory: { markup: 'nobody' } };
    expect(await wrongFields(await send(requestOf('slime', {}, { label: wrong })))).toEqual([
      'label.trajectory.markup',
    ]);
  });
});

describe('every adapter', () => {
  it('writes every whole number that a trainer computes with as a float: Python would read 0 as an int', async () => {
    const textOf = async (request: Request) => (await send(request)).text();
    const silent = { response: 'I would rather not say.' };
    expect(await textOf(requestOf('slime', {}, silent))).toBe('0.0');
    expect(await textOf(requestOf('slime', { reply: 'object' }, silent))).toMatch(
      /^\{"rubric":0\.0,"citation":0\.0,"format":0\.0,"rubric_contribution":0\.0,"citation_contribution":0\.0,"reward":0\.0,"base":0\.0,"status"/,
    );
    const query = BODIES.openrlhf.query.map((text) => text.replace(ROLLOUT.response, silent.response));
    expect(await textOf(requestOf('openrlhf', { run: 'whole' }, { query }))).toMatch(
      /^\{"rewards":\[0\.0\],"scores":\[0\.0\],"extra_logs":\{"rubric":\[0\.0\],.*"attempt":\[0\]/,
    );
    expect(await textOf(requestOf('openrlhf', {}, { query: [], prompts: [], labels: [] }))).toBe(
      '{"rewards":[],"scores":[],"extra_logs":{}}',
    );
    const refusal = { output: [{ type: 'message', role: 'assistant', content: 'No.' }] };
    const verified = await textOf(requestOf('nemo-gym', {}, { response: refusal, _ng_task_index: 3 }));
    expect(verified).toContain('"reward":0.0');
    expect(verified).toContain('"reward_components":{"rubric":0.0,"citation":0.0}');
    expect(verified).toContain('"_ng_task_index":3}');
    const history = [{ role: 'user', content: 'Which river?' }];
    expect(await textOf(requestOf('longtracerl', {}, { history }))).toBe(
      '{"outcome_reward":0.0,"rubric_reward":0.0,"reward":0.0}',
    );
    expect(await textOf(requestOf('longtracerl'))).toContain('"outcome_reward":1.0');
  });

  it('ignores what trainers send beside their contract', async () => {
    for (const trainer of TRAINERS) {
      const extras = { metadata: { step: 3 }, id: null };
      expect((await send(requestOf(trainer, {}, extras))).status, trainer).toBe(200);
    }
  });

  it('refuses a query that it does not know', async () => {
    for (const trainer of TRAINERS) {
      const fields = async (query: Record<string, string>) => wrongFields(await send(requestOf(trainer, query)));
      expect(await fields({ recipe: 'nobody' })).toEqual(['query.recipe']);
      expect(await fields({ receipt: 'x' })).toEqual(['query.receipt']);
      for (const run of ['', 'a b', 'x'.repeat(129), 'ä']) expect(await fields({ run }), run).toEqual(['query.run']);
      expect(await fields({ judge: '' })).toEqual(['query.judge']);
      await problemOf(await send(requestOf(trainer, { judge: 'nobody' })), 422, 'judge_unknown');
      if (trainer !== 'slime') expect(await fields({ reply: 'object' })).toEqual(['query.reply']);
      if (trainer === 'longtracerl') continue;
      const path = adapterPath(trainer).split('?')[0] ?? '';
      expect(await wrongFields(await send(post(path, BODIES[trainer])))).toEqual(['query.recipe']);
    }
    expect(await wrongFields(await send(requestOf('slime', { reply: 'text' })))).toEqual(['query.reply']);
  });

  it('refuses a typo in the label, and what the recipe lacks, by name', async () => {
    const { tool_output: _, ...lacking } = LABEL;
    const typo = { ...LABEL, positive_rubrics: [{ description: 'x', wieght: 2 }] };
    const both = { ...LABEL, sources: [] };
    for (const [label, path] of [
      [lacking, 'tool_output'],
      [typo, 'positive_rubrics[0].wieght'],
      [both, 'tool_output'],
      [null, 'tool_output'],
      ['', 'tool_output'],
    ] as const) {
      expect(await wrongFields(await send(requestOf('slime', {}, { label })))).toContain(`label.${path}`);
      expect(await wrongFields(await send(requestOf('openrlhf', {}, { labels: [label] })))).toContain(
        `labels[0].${path}`,
      );
      const prefix = label === null ? '' : 'citeward.';
      expect(await wrongFields(await send(requestOf('nemo-gym', {}, { citeward: label })))).toContain(prefix + path);
    }
    for (const label of ['{"question": ', "{'question': 'x'}", '[]', 3, true, [], [LABEL, LABEL], [[LABEL]]]) {
      expect(await wrongFields(await send(requestOf('slime', {}, { label })))).toEqual(['label']);
    }
  });

  it('names the run, the group and the sample on request, and measures all', async () => {
    const runs = await Promise.all(
      TRAINERS.map(async (trainer) => {
        const query = { run: `run-1.${trainer}`, ...(trainer === 'slime' ? { reply: 'object' } : {}) };
        const reply = await jsonOf(requestOf(trainer, query));
        return reply instanceof Object && 'run' in reply ? reply.run : null;
      }),
    );
    const group = expect.stringMatching(/^[0-9a-f]{64}\.000000$/);
    const sample = expect.any(String);
    const place = { step: null, group, sample, grouping: 'inferred', attempt: 0, status: 'recorded' };
    const lists = { group: [group], sample: [sample], attempt: [0], status: ['recorded'] };
    const many = { step: [null], ...lists, grouping: 'inferred' };
    expect(runs).toEqual(
      TRAINERS.map((trainer) => ({ id: `run-1.${trainer}`, ...(trainer === 'openrlhf' ? many : place) })),
    );

    const grouped = async (fields: object) =>
      (await objectOf(requestOf('slime', { run: 'r', reply: 'object' }, fields))).run;
    const [first, same, other, prompt] = await Promise.all([
      grouped({}),
      grouped({}),
      grouped({ response: 'No.' }),
      grouped({ prompt: 'Another?' }),
    ]);
    expect(same?.group).toBe(first?.group);
    expect(same?.sample).not.toBe(first?.sample);
    expect(other?.group).toBe(first?.group);
    expect(other?.sample).not.toBe(first?.sample);
    expect(prompt?.group).not.toBe(first?.group);
  });

  it('says in the log of which run and group a request is', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const reply = await objectOf(requestOf('slime', { run: 'r1', reply: 'object' }));
    await send(requestOf('slime'));
    const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines[0]).toMatchObject({ route: '/v1/adapters/slime', run: 'r1', groups: [reply.run?.group] });
    expect(lines[1]).not.toHaveProperty('run');
  });

  it('reports a refusal loudly: the fields, and nothing of what they hold', async () => {
    const CANARY = 'kanarienvogel';
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const headers = { 'x-request-id': 'r-7' };
    const fields: Record<string, object> = {
      slime: { label: { ...LABEL, question: CANARY, negative_rubrics: [{ description: CANARY, kanarienvogel: 1 }] } },
      longtracerl: { extra_reward_info: { ...EXTRA_REWARD_INFO, question: [CANARY], rubrics: [{ a: CANARY }] } },
      openrlhf: { query: [CANARY, CANARY] },
      'nemo-gym': { citeward: { reference: CANARY } },
    };
    for (const trainer of TRAINERS) {
      const problem = await problemOf(
        await send(requestOf(trainer, {}, fields[trainer], headers)),
        422,
        'input_invalid',
      );
      expect(problem.retryable).toBe(false);
      if (trainer !== 'slime') expect(JSON.stringify(problem)).not.toContain(CANARY);
    }
    await send(requestOf('slime', { judge: CANARY }, {}, headers));
    await send(post(adapterPath('slime'), `{"prompt": "${CANARY}`, headers));
    const event = { event: 'adapter_request_refused', request_id: 'r-7', reason: 'input_invalid' };
    expect(warn.mock.calls.map(([line]) => JSON.parse(String(line)))).toEqual([
      { ...event, adapter: 'slime', fields: ['label.negative_rubrics[0].*'] },
      {
        ...event,
        adapter: 'longtracerl',
        fields: ['extra_reward_info.question', 'extra_reward_info.rubrics[0]'],
      },
      { ...event, adapter: 'openrlhf', fields: ['prompts', 'labels'] },
      { ...event, adapter: 'nemo-gym', fields: expect.arrayContaining(['citeward.tool_output']) },
      { ...event, adapter: 'slime', reason: 'judge_unknown', fields: ['query.judge'] },
      { ...event, adapter: 'slime', reason: 'body_not_json', fields: [] },
    ]);
    expect(JSON.stringify(warn.mock.calls)).not.toContain(CANARY);
  });

  it('refuses a row that is thousands of levels deep', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const body = JSON.stringify({ ...BODIES['nemo-gym'], extra: 0 }).replace('"extra":0', `"extra":${deep}`);
    expect(await wrongFields(await send(post(adapterPath('nemo-gym', { run: 'r' }), body)))).toEqual(['extra']);
  });

  it.each([
    ['slime', { prompt: [...MESSAGES, { role: 'tool', extra: 'HERE' }] }, { reply: 'object' }],
    ['longtracerl', { history: [{ role: 'user', content: 'q', extra: 'HERE' }, BODIES.longtracerl.history[1]] }, {}],
    ['nemo-gym', { extra: 'HERE' }, {}],
  ] as const)('records a row with a key or a number that has no canonical form: %s', async (trainer, fields, query) => {
    const place = async (odd: string): Promise<unknown> => {
      const body = JSON.stringify({ ...BODIES[trainer], ...fields }).replace('"HERE"', odd);
      const reply = await send(post(adapterPath(trainer, { run: `r-odd-${trainer}`, ...query }), body));
      const recorded: { run?: unknown } = await reply.json();
      return recorded.run;
    };
    const places = [await place('{"\\ud800": 1}'), await place('{"\\ud801": 1}'), await place('1e400')];
    for (const run of places) expect(run).toMatchObject({ id: `r-odd-${trainer}` });
    expect(new Set(places.map((run) => JSON.stringify(run))).size).toBe(3);
  });

  it('takes a context of 128K tokens', async () => {
    const context = 'The ferry leaves at nine, and the registers were copied by hand. '.repeat(9_000);
    expect(context.length).toBeGreaterThan(512 * 1024);
    const history = [{ role: 'user', content: context }, ...BODIES.longtracerl.history.slice(1)];
    expect(await jsonOf(requestOf('longtracerl', { run: 'r-longtracerl' }, { history }))).toMatchObject({
      outcome_reward: 1,
    });
    expect(await jsonOf(requestOf('slime', {}, { prompt: [{ role: 'system', content: context }] }))).toBeGreaterThan(0);
  });
});
