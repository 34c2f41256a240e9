/** The front door of the library: what it returns, what it throws, and that types follow the recipe. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  advantages,
  compose,
  composeGroup,
  createScorer,
  createVerifier,
  InputError,
  type Judge,
  lexicalJudge,
  memoryStore,
  openAiCompatible,
  type RecipeName,
  type Rollout,
  recipes,
  replay,
  resolveRecipe,
  verifyCitations,
} from '../../../lib/index.ts';
import { replyText } from '../../contract/stub-replies.ts';

const ROLLOUT = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>',
  response: '<answer><snippet id=S1>It is 288 km long.</snippet></answer>',
  positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
} satisfies Rollout;
const TRACE: Rollout = {
  question: 'Which river flows through Bern?',
  reference: 'the Aare',
  entities: ['Aare', 'Bern'],
  response: '<think>Bern.</think>The Aare.',
  finish_reason: 'stop',
};

/** A judge that fails until it is told not to. */
function failingJudge(name: string): Judge & { calls: number } {
  return {
    ...lexicalJudge,
    name,
    model: name,
    identityFor: () => ({ model: name, template: 't', sampling: null }),
    calls: 0,
    async judge() {
      this.calls++;
      return { ok: false, failure: { reason: 'judge_unreachable', detail: 'down', retryable: true } };
    },
  };
}

describe('createScorer', () => {
  it.each([
    [{ positive_rubrics: ['States 288 km'] }, 'positive_rubrics[0]: expected an object with description, got a string'],
    [{ negative_rubrics: [{ title: 'x' }] }, 'negative_rubrics[0].description: required: a string'],
    [{ positive_rubrics: 'x' }, 'positive_rubrics: expected an array, got a string'],
    [{ sources: [{ id: 1, text: 'x' }] }, 'sources[0].id: expected a string, got an integer'],
    [{ sources: [null] }, 'sources[0]: expected an object with id and text, got null'],
    [{ sources: [{ id: '1', text: 'x', title: null }] }, 'sources[0].title: expected a string, got null'],
    [{ positive_rubrics: [{ description: 'x', weight: '2' }] }, 'positive_rubrics[0].weight: expected a number'],
    [{ positive_rubrics: [{ description: 'x', weight: null }] }, 'positive_rubrics[0].weight: expected a number'],
    [{ entities: [5] }, 'entities[0]: expected a string, got an integer'],
    [{ response: null }, 'response: expected a string, got null'],
    [{ question: 5 }, 'question: expected a string, got an integer'],
    [{ tool_output: ['x'] }, 'tool_output: expected a string, got an array'],
  ])('names a field of another type: %j', async (fields, message) => {
    const { tool_output: _, ...rest } = ROLLOUT;
    const given: Rollout = JSON.parse(JSON.stringify({ ...rest, ...fields }));
    const scorer = createScorer({ judge: lexicalJudge });
    await expect(scorer.score(given, 'refiner-rl-balanced')).rejects.toThrow(InputError);
    await expect(scorer.score(given, 'refiner-rl-balanced')).rejects.toThrow(message);
  });

  const OPTIONAL = [
    'reasoning',
    'reference',
    'tool_output',
    'entities',
    'entity_rubrics',
    'positive_rubrics',
    'sources',
  ];

  it.each(OPTIONAL)('takes %s: null as an absent field', async (field) => {
    const whole = {
      ...ROLLOUT,
      reasoning: 'It is long.',
      reference: '288 km',
      entities: ['Aare'],
      entity_rubrics: ['Aare'],
    };
    const scorer = createScorer({ judge: lexicalJudge });
    const outcome = async (row: object, name: RecipeName): Promise<unknown> => {
      const given: Rollout = JSON.parse(JSON.stringify(row));
      try {
        const { reward, reason } = await scorer.score({ ...given, finish_reason: 'stop' }, name);
        return { reward, reason };
      } catch (error) {
        if (error instanceof InputError) return error.message;
        throw error;
      }
    };
    const names: RecipeName[] = [
      'carr',
      'carr-exact',
      'dr-tulu',
      'longtrace-rl',
      'longtrace-rl-chunks',
      'refiner-guarded',
    ];
    for (const name of names) {
      const absent = await outcome({ ...whole, [field]: undefined }, name);
      expect(await outcome({ ...whole, [field]: null }, name), name).toEqual(absent);
    }
  });

  it('scores a rollout with its parts and its facts', async () => {
    const scored = await createScorer({ judge: lexicalJudge }).score(ROLLOUT, 'refiner-rl-balanced');
    expect(scored.reward).toBeGreaterThan(0);
    expect(scored.claims[0]?.support).toBe(1);
    expect(scored.facts.family).toBe('refiner');
    expectTypeOf(scored.facts.family).toEqualTypeOf<'refiner'>();
    expectTypeOf(scored.components.citation.weight).toEqualTypeOf<number>();
  });

  it('types the reply by the family of a recipe with changes', async () => {
    const trace = await createScorer({ judge: lexicalJudge }).score(TRACE, { base: 'longtrace-rl', eta: 0.5 });
    expectTypeOf(trace.family).toEqualTypeOf<'long-trace'>();
    expect(trace.observed.well_formed).toBe(true);
  });

  it('scores messages as a response and tool output, alone and in groups', async () => {
    const scorer = createScorer({ judge: lexicalJudge });
    const { question, tool_output, positive_rubrics, response } = ROLLOUT;
    const messages = [
      { role: 'user', content: question },
      { role: 'assistant', content: '', tool_calls: [{ function: { name: 'search', arguments: {} } }] },
      { role: 'tool', name: 'search', content: tool_output },
      { role: 'assistant', content: response },
    ];
    const asMessages = { positive_rubrics, messages } satisfies Rollout;
    const { reward } = await scorer.score(ROLLOUT, 'refiner-rl-balanced');
    const scored = await scorer.score(asMessages, 'refiner-rl-balanced');
    expect(scored).toMatchObject({ reward, trajectory: { num_turns: 4, calls: 1, findings: [] } });
    const group = await scorer.group([ROLLOUT, asMessages], 'refiner-rl-balanced');
    expect(group.members.map((sample) => sample.reward)).toEqual([reward, reward]);
    // A conversation that goes on is read again.
    messages.push({ role: 'assistant', content: 'I do not know.' });
    expect(await scorer.score(asMessages, 'refiner-rl-balanced')).toMatchObject({ trajectory: { num_turns: 4 } });
    messages.push({ role: 'user', content: 'Why?' }, { role: 'assistant', content: 'No answer.' });
    expect(await scorer.score(asMessages, 'refiner-rl-balanced')).toMatchObject({ trajectory: { num_turns: 6 } });
  });

  it.each<[string, object, string]>([
    ['neither', {}, 'response: give exactly one of response (a string), messages and cited_answer'],
    [
      'both',
      { response: 'a', messages: [] },
      'response: give exactly one of response (a string), messages and cited_answer',
    ],
    [
      'options for a text',
      { response: 'a', trajectory: {} },
      'trajectory: only with messages: it says how they are read',
    ],
    ['no messages', { messages: [] }, 'messages: expected at least one message'],
    ['a wrong message', { messages: [{ role: 'assistant', content: 3 }] }, 'messages[0].content: expected a string or'],
  ])('refuses %s, also in a group', async (_name, wrong, message) => {
    const scorer = createScorer({ judge: lexicalJudge });
    const rollout: Rollout = Object(wrong);
    await expect(scorer.score(rollout, 'refiner-rl-balanced')).rejects.toThrow(message);
    const group = scorer.group([ROLLOUT, rollout], 'refiner-rl-balanced');
    await expect(group).rejects.toThrow(new RegExp(`^responses\\[1\\]\\.${message.slice(0, 8)}`));
  });

  it('leaves the reward null when the judge fails, and judges again later', async () => {
    const judge = failingJudge('down');
    const scored = await createScorer({ judge }).score(ROLLOUT, 'refiner-rl-balanced');
    expect(scored).toMatchObject({ reward: null, status: 'unscored', reason: 'judge_unreachable' });
  });

  it('tries the next judge for the whole rollout, and names it', async () => {
    const down = failingJudge('down');
    const scored = await createScorer({ judge: [down, lexicalJudge] }).score(ROLLOUT, 'refiner-rl-balanced');
    expect(scored.reward).not.toBeNull();
    expect(new Set(scored.judgments.map(({ model }) => model))).toEqual(new Set([lexicalJudge.model]));
    expect(down.calls).toBeGreaterThan(0);
  });

  it('lets several judges vote, and leaves unscored what a missing one would decide', async () => {
    const [two, three] = [lexicalJudge, { judge: lexicalJudge, replicate: 2 }];
    const alone = await createScorer({ judge: lexicalJudge }).score(ROLLOUT, 'refiner-rl-balanced');
    const agreed = await createScorer({ judges: [two, three] }).score(ROLLOUT, 'refiner-rl-balanced');
    expect(agreed.reward).toBe(alone.reward);
    expect(agreed.facts.panel?.map(({ replicate }) => replicate)).toEqual([0, 2]);
    // Two of three members that agree settle a majority; one of two settles nothing.
    const down = failingJudge('down');
    const settled = createScorer({ judges: [two, three, down] });
    expect((await settled.score(ROLLOUT, 'refiner-rl-balanced')).reward).toBe(alone.reward);
    const open = createScorer({ judges: [two, down] });
    expect(await open.score(ROLLOUT, 'refiner-rl-balanced')).toMatchObject({
      reward: null,
      reason: 'judge_unreachable',
    });
    const group = await settled.group([ROLLOUT, ROLLOUT], 'refiner-rl-balanced');
    expect(group.members.map(({ reward }) => reward)).toEqual([alone.reward, alone.reward]);
    await expect(open.score(ROLLOUT, 'refiner-rl-balanced', { replicate: 1 })).rejects.toThrow(/^replicate: not with/);
  });

  it('refuses a panel of one, and of one judge twice', () => {
    expect(() => createScorer({ judges: [lexicalJudge] })).toThrow('judges: expected 2 to 5');
    expect(() => createScorer({ judges: [lexicalJudge, lexicalJudge] })).toThrow('judges: expected judges that differ');
  });

  it('uses stored judgments, and says what is missing without calling a judge', async () => {
    const store = memoryStore();
    const fresh = await createScorer({ judge: lexicalJudge, store }).score(ROLLOUT, 'refiner-rl-balanced');
    const stored = await createScorer({ judge: lexicalJudge, store }).score(ROLLOUT, 'refiner-rl-balanced', {
      judgments: 'only',
    });
    expect(stored.reward).toBe(fresh.reward);
    expect(stored.judgments.every(({ cached }) => cached)).toBe(true);
    const missing = await createScorer({ judge: lexicalJudge }).score(ROLLOUT, 'refiner-rl-balanced', {
      judgments: 'only',
    });
    expect(missing).toMatchObject({ reward: null, reason: 'judgment_missing' });
  });

  it('masks an unscored sample of a group and keeps the order', async () => {
    const short = { ...ROLLOUT, response: '<answer>It is long, long, long and flows north.</answer>' };
    const group = await createScorer({ judge: lexicalJudge }).group([ROLLOUT, short, ROLLOUT], 'refiner-rl-balanced', {
      advantages: 'trl',
    });
    expect(group.members.map(({ masked }) => masked)).toEqual([false, false, false]);
    expect(group.members[0]?.advantage).toBe(group.members[2]?.advantage);
    expect(group.members[0]?.reward).toBeGreaterThan(group.members[1]?.reward ?? Number.NaN);
    const down = await createScorer({ judge: failingJudge('down') }).group([ROLLOUT], 'refiner-rl-balanced');
    expect(down.members).toMatchObject([{ reward: null, advantage: 0, masked: true }]);
  });

  it.each([
    ['a rollout without the question', { ...ROLLOUT, question: undefined }, 'refiner-rl-balanced', ['question']],
    [
      'a wrong field of a recipe',
      ROLLOUT,
      { base: 'refiner-rl-balanced', citation_weight: 'x' },
      ['recipe', 'citation_weight'],
    ],
  ] as const)('throws InputError for %s', async (_what, { question, ...rest }, recipe, path) => {
    const rollout = question === undefined ? rest : { ...rest, question };
    const scoring = createScorer({ judge: lexicalJudge }).score(rollout, recipe);
    await expect(scoring).rejects.toBeInstanceOf(InputError);
    await expect(scoring).rejects.toMatchObject({ problems: [{ path }] });
  });

  it('refuses options out of range by name', async () => {
    expect(() => createScorer({ judge: lexicalJudge, deadlineMs: 0 })).toThrow(/deadlineMs: expected/);
    await expect(
      createScorer({ judge: lexicalJudge }).score(ROLLOUT, 'refiner-rl-balanced', { replicate: 0.5 }),
    ).rejects.toThrow(/replicate: expected an integer/);
    await expect(createScorer({ judge: lexicalJudge }).group([], 'refiner-rl-balanced')).rejects.toThrow(
      /at least one/,
    );
  });
});

describe('recipes, compose and replay', () => {
  it('composes stored facts to the reward that scoring gave, and to another', async () => {
    const scorer = createScorer({ judge: lexicalJudge });
    const { facts, reward } = await scorer.score(ROLLOUT, 'refiner-rl-balanced', { measureAll: true });
    expect(compose(facts, recipes['refiner-rl-balanced']).reward).toBe(reward);
    const other = { ...recipes['refiner-rl-balanced'], citation_weight: 1, verification_reward: 1 };
    const direct = await scorer.score(ROLLOUT, other);
    expect(compose(facts, other).reward).toBe(direct.reward);
    expect(composeGroup([facts], other)[0]?.reward).toBe(direct.reward);
  });

  it('replays groups with the figures of the command line', async () => {
    const recipe = recipes['refiner-rl-balanced'];
    const answers = ['It is 288 km long.', 'It is long.', 'It is 300 km long.'];
    const rollouts = answers.map((text) => ({
      ...ROLLOUT,
      response: `<answer><snippet id=S1>${text}</snippet></answer>`,
    }));
    const scorer = createScorer({ judge: lexicalJudge });
    const { samples } = await scorer.group(rollouts, recipe, { measureAll: true });
    const group = samples.map(({ facts, reward }) => ({ facts, reward, recipe }));
    const { figures, groups } = await replay([group], { set: { citation_weight: 1 } }, { advantages: 'trl' });
    const direct = await scorer.group(
      rollouts,
      { base: 'refiner-rl-balanced', citation_weight: 1 },
      { advantages: 'trl' },
    );
    expect(groups[0]?.map(({ after }) => after.reward)).toEqual(direct.members.map(({ reward }) => reward));
    expect(groups[0]?.map(({ after }) => after.advantage)).toEqual(direct.members.map(({ advantage }) => advantage));
    expect(figures.rollouts).toBe(3);
    await expect(replay([group], { set: { citation_wieght: 1 } })).rejects.toBeInstanceOf(InputError);
    await expect(replay([group], 'longtrace-rl')).rejects.toThrow(/another family/);
  });

  it('resolves a recipe with its digest, or says what is wrong', async () => {
    expect(await resolveRecipe('longtrace-rl')).toMatchObject({ name: 'longtrace-rl', reward_range: [0, 1] });
    await expect(resolveRecipe({ base: 'longtrace-rl', eta: 2 })).rejects.toThrow(/recipe\.eta: expected at most 1/);
  });

  it('computes advantages, and refuses what is not finite', () => {
    expect(advantages([1, 3, null]).advantages.map(({ advantage }) => advantage)).toEqual([-1, 1, 0]);
    expect(() => advantages([Number.NaN])).toThrow(InputError);
  });
});

describe('citations', () => {
  it('finds an invented id in the whole response and in the push that completes its tag', () => {
    const input = { tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>' };
    const response = '<answer><snippet id=S9>It is 288 km long.</snippet></answer>';
    const { findings } = verifyCitations({ ...input, response });
    expect(findings.map(({ reason }) => reason)).toContain('citation_id_unknown');
    const verifier = createVerifier(input);
    const events = verifier.push('<answer><snippet id=S9>');
    expect(events.filter((event) => event.type === 'finding')).toHaveLength(1);
    verifier.finish();
  });

  it('refuses two origins of sources, and none', () => {
    expect(() => verifyCitations({ response: '', tool_output: '', sources: [] })).toThrow(InputError);
    expect(() => createVerifier({})).toThrow(/exactly one of/);
  });
});

describe('openAiCompatible', () => {
  const options = { baseUrl: 'http://127.0.0.1:9/v1', model: 'm' };

  it.each([
    [{ baseUrl: 'http://example.com/v1' }, /baseUrl: expected https/],
    [{ baseUrl: 'https://example.com/v1/chat/completions' }, /baseUrl: /],
    [{ baseUrl: 'https://user:secret@example.com/v1' }, /baseUrl: expected no credentials/],
    [{ model: '' }, /model: expected/],
    [{ contextTokens: 0 }, /contextTokens: expected/],
  ])('refuses %o', (wrong, message) => {
    expect(() => openAiCompatible({ ...options, ...wrong })).toThrow(message);
    expect(() => openAiCompatible({ ...options, ...wrong })).not.toThrow(/secret/);
  });

  it('gives each dialect an identity of its own, and vllm that of a deployment', () => {
    const vllm = openAiCompatible(options).identityFor('rubric');
    const openai = openAiCompatible({ ...options, dialect: 'openai' }).identityFor('rubric');
    expect(vllm.sampling).toMatchObject({ thinking: false });
    expect(openai).not.toEqual(vllm);
    expect(openAiCompatible(options).context_tokens).toBeNull();
  });

  it('sends the fields of its dialect and reads the reply', async () => {
    const bodies: Record<string, unknown>[] = [];
    const answering = async (_url: string, init: RequestInit): Promise<Response> => {
      bodies.push(JSON.parse(String(init.body)));
      const content = replyText('not_streamed', String(init.body));
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
      return Response.json({ id: 'x', object: 'chat.completion', model: 'm', choices });
    };
    for (const dialect of ['vllm', 'openai'] as const) {
      const judge = openAiCompatible({ ...options, dialect, fetch: answering });
      const reply = await judge.judge(
        { kind: 'rubric', question: 'q', sources: [], criteria: [{ description: 'd' }], answer: 'a' },
        { deadline_ms: 1_000 },
      );
      expect(reply).toMatchObject({ ok: true, verdicts: { kind: 'rubric' } });
    }
    expect(bodies.map((body) => 'chat_template_kwargs' in body)).toEqual([true, false]);
    expect(bodies.map((body) => 'repetition_penalty' in body)).toEqual([true, false]);
  });
});
