/** The families other than the refiner: what they read, what they refuse, and the effect of a failed judgment. */
import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../src/family/rollout.ts';
import { criterionKey } from '../../../src/judgments/kinds/rubric/rubric.ts';
import { type Answer, refusedPaths, replyOf, scoreAlone, scoreMembers } from '../scoring/scoring-line.ts';

const TRACE: Rollout = {
  question: 'Which river flows through Bern?',
  reference: 'the Aare',
  entities: ['Aare', 'Bern', 'Koblenz', 'Rhine'],
  response: '<think>It joins the Rhine near Koblenz.</think>The Aare, in Bern.',
  finish_reason: 'stop',
};

const RIGHT: Answer = () => ({ kind: 'outcome', correct: true });
const DOWN: Answer = () => 'judge_unreachable';

describe('long-trace', () => {
  it('pays outcome and entities, and says that a group would divide by its maximum', async () => {
    const reply = replyOf('long-trace', await scoreAlone(TRACE, 'longtrace-rl', { judge: RIGHT }));
    expect(reply).toMatchObject({
      reward: 0.7 + 0.3 * 0.5,
      details: { rubric_share: 0.5, group_max: null, final: false },
      observed: { well_formed: true, entities: { total: 4, content: 2, reasoning: 2, both: 4 } },
    });
  });

  it('looks for entities where the recipe says', async () => {
    const share = async (text: string) =>
      replyOf('long-trace', await scoreAlone(TRACE, { base: 'longtrace-rl', text }, { judge: RIGHT })).details
        .rubric_share;
    expect([await share('content'), await share('reasoning'), await share('both')]).toEqual([0.5, 0.5, 1]);
  });

  it('takes thinking that stands apart from the response', async () => {
    const rollout = { ...TRACE, response: 'The Aare, in Bern.', reasoning: 'It joins the Rhine.' };
    const recipe = { base: 'longtrace-rl', text: 'both' };
    expect(replyOf('long-trace', await scoreAlone(rollout, recipe, { judge: RIGHT })).details.rubric_share).toBe(0.75);
  });

  it('sends the judge the final answer only', async () => {
    let seen: unknown = null;
    await scoreAlone(TRACE, 'longtrace-rl', {
      judge: (request) => {
        seen = request;
        return { kind: 'outcome', correct: false };
      },
    });
    expect(seen).toEqual({
      kind: 'outcome',
      question: TRACE.question,
      reference: 'the Aare',
      answer: 'The Aare, in Bern.',
    });
  });

  it.each([
    ['truncated', { finish_reason: 'length' }],
    ['unclosed thinking', { response: '<think>The Aare' }],
    ['no answer behind the thinking', { response: '<think>The Aare</think> \n' }],
    ['an answer without a letter', { response: '<think>The Aare</think>…' }],
  ])('earns zero and is not judged: %s', async (_name, change) => {
    const { reply } = await scoreAlone({ ...TRACE, ...change }, 'longtrace-rl');
    expect(reply).toMatchObject({ reward: 0, status: 'scored', decided_by: 'ill_formed', judgments: [] });
  });

  it('has no number without the outcome, and none of its group changes for it', async () => {
    const { reply, failure } = await scoreAlone(TRACE, 'longtrace-rl', { judge: DOWN });
    expect(reply).toMatchObject({ reward: null, base: null, status: 'unscored', reason: 'judge_unreachable' });
    expect(failure?.reason).toBe('judge_unreachable');

    const responses = ['lost: Aare, Bern, Koblenz, Rhine', 'Aare, Bern', 'Aare'];
    const judge: Answer = (request) =>
      request.kind === 'outcome' && request.answer.startsWith('lost')
        ? 'judge_unreachable'
        : { kind: 'outcome', correct: true };
    const members = await scoreMembers(
      responses.map((response) => ({ ...TRACE, response })),
      'longtrace-rl',
      { judge },
    );
    // The lost member names all four entities, and no judge is needed to see that: the others get half and a quarter.
    expect(members.map(({ reply: { reward } }) => reward)).toEqual([null, 0.7 + 0.3 * 0.5, 0.7 + 0.3 * 0.25]);
    expect(members[0]?.reply).not.toHaveProperty('depends_on');
  });

  it('lets a wrong answer vote', async () => {
    const judge: Answer = (request) => ({
      kind: 'outcome',
      correct: request.kind === 'outcome' && !request.answer.startsWith('wrong'),
    });
    const members = await scoreMembers(
      [{ ...TRACE, response: 'wrong: Aare, Bern, Koblenz, Rhine' }, TRACE],
      'longtrace-rl',
      { judge },
    );
    expect(members.map(({ reply: { reward } }) => reward)).toEqual([0, 0.7 + 0.3 * 0.5]);
  });

  it('reads gold chunks under its variant', async () => {
    const response = '<think>t</think>Aare <useful_chunks><chunk_1><chunk_2></useful_chunks>';
    const { entities: _entities, ...rollout } = TRACE;
    const scored = await scoreAlone({ ...rollout, response, useful_chunks: [1, 2] }, 'longtrace-rl-chunks', {
      judge: RIGHT,
    });
    expect(scored.reply.reward).toBeCloseTo(2, 12);
    expect(scored.reply.recipe.reward_range).toEqual([0, 2]);
  });

  it('refuses what it needs and does not get', async () => {
    expect(await refusedPaths({ response: 'x' }, 'longtrace-rl')).toEqual([
      'question',
      'reference',
      'entities',
      'finish_reason',
    ]);
    expect(await refusedPaths(TRACE, 'longtrace-rl-chunks')).toEqual(['useful_chunks']);
    const { finish_reason: _finish, ...open } = TRACE;
    expect(await refusedPaths(open, 'longtrace-rl')).toEqual(['finish_reason']);
    const trusting = { base: 'longtrace-rl', punish_ill_formed: false };
    expect((await scoreAlone(open, trusting, { judge: RIGHT })).reply.reward).toBeGreaterThan(0);
  });
});

const MATH: Rollout = {
  response: 'So it is \\boxed{\\frac{1}{2}}.',
  reference: '0.5',
  num_turns: 4,
  response_tokens: 900,
};
const CODE: Rollout = {
  response: 'Here it is:\n```python\nprint(int(input()) * 2)\n```',
  tests: [
    { stdin: '1', stdout: '2' },
    { stdin: '2', stdout: '4' },
  ],
  num_turns: 4,
  response_tokens: 900,
};

const FAILING: Readonly<Record<'unreachable' | 'undecided', Answer>> = {
  unreachable: () => 'sandbox_unreachable',
  undecided: () => 'equivalence_undecided',
};

describe('tool-call', () => {
  it('takes the strict rules alone unless the recipe compares expressions', async () => {
    expect((await scoreAlone(MATH, 'grpo-tcr')).reply.reward).toBeCloseTo(-0.9, 12);
    const symbolic = { base: 'grpo-tcr', math_equivalence: 'symbolic' };
    const same: Answer = () => ({ kind: 'equivalence', equivalent: true });
    const other: Answer = () => ({ kind: 'equivalence', equivalent: false });
    expect((await scoreAlone(MATH, symbolic, { sandbox: same })).reply.reward).toBe(1);
    expect((await scoreAlone(MATH, symbolic, { sandbox: other })).reply.reward).toBeCloseTo(-0.9, 12);
    // What is equal as text, or has no box, needs no sandbox.
    expect((await scoreAlone({ ...MATH, reference: '\\frac{1}{2}' }, symbolic)).reply.reward).toBe(1);
    expect((await scoreAlone({ ...MATH, response: 'one half' }, symbolic)).reply.reward).toBeCloseTo(-0.9, 12);
  });

  it('needs no sandbox for what arithmetic decides', async () => {
    const rewardOf = async (answer: string, reference: string) =>
      (await scoreAlone({ ...MATH, response: `So \\boxed{${answer}}`, reference }, 'grpo-tcr-symbolic')).reply.reward;
    expect(await rewardOf('2 1/2', '2.5')).toBe(1);
    expect(await rewardOf('\\text{even}', 'Even')).toBe(1);
    expect(await rewardOf('2 2/3', '2')).toBeCloseTo(-0.9, 12);
    expect(await rewardOf('\\sqrt{4}', '2')).toBeNull();
  });

  it.each([
    ['sandbox_unreachable', FAILING.unreachable],
    ['equivalence_undecided', FAILING.undecided],
    ['sandbox_unconfigured', undefined],
  ] as const)('has no number where the sandbox fails: %s', async (reason, sandbox) => {
    const parts = sandbox === undefined ? {} : { sandbox };
    for (const [rollout, recipe] of [
      [
        { ...MATH, reference: '\\sqrt{0.25}' },
        { base: 'grpo-tcr', math_equivalence: 'symbolic' },
      ],
      [CODE, 'grpo-tcr'],
    ] as const) {
      const { reply, failure } = await scoreAlone(rollout, recipe, parts);
      expect(reply).toMatchObject({ reward: null, base: null, status: 'unscored', reason });
      expect(reply.components).toMatchObject({ outcome: { value: null, contribution: null } });
      expect(failure?.reason).toBe(reason);
    }
  });

  it('pays the share of tests that pass, and tells the others apart', async () => {
    const sandbox: Answer = () => ({ kind: 'execution', tests: ['passed', 'time_limit'] });
    const reply = replyOf('tool-call', await scoreAlone(CODE, 'grpo-tcr', { sandbox }));
    expect(reply).toMatchObject({
      reward: 0.5,
      details: { tests_passed: 1, tests_total: 2 },
      observed: { math: null, code: { runnable: true, tests: ['passed', 'time_limit'] } },
    });
    const none: Answer = () => ({ kind: 'execution', tests: ['wrong_output', 'runtime_error'] });
    expect((await scoreAlone(CODE, 'grpo-tcr', { sandbox: none })).reply.reward).toBe(0);
  });

  it('pays -1 for no program and for one that does not parse', async () => {
    const without = await scoreAlone({ ...CODE, response: 'print(2)' }, 'grpo-tcr');
    expect(without.reply).toMatchObject({ base: -1, decided_by: 'no_runnable_block', judgments: [] });
    const sandbox: Answer = () => ({ kind: 'execution', tests: ['compile_error', 'compile_error'] });
    const broken = await scoreAlone(CODE, 'grpo-tcr', { sandbox });
    expect(broken.reply).toMatchObject({ base: -1, decided_by: 'no_runnable_block' });
    expect(broken.reply.reward).toBeCloseTo(-0.9, 12);
  });

  it('never fills in turns or lengths, and wants one thing to score', async () => {
    expect(await refusedPaths({ response: 'x' }, 'grpo-tcr')).toEqual(['num_turns', 'response_tokens', 'reference']);
    expect(await refusedPaths({ ...MATH, tests: [{ assert: 'assert True' }] }, 'grpo-tcr')).toEqual(['tests']);
  });

  it('asks for everything where everything is to be measured', async () => {
    const sandbox: Answer = () => ({ kind: 'equivalence', equivalent: true });
    const { reply } = await scoreAlone(MATH, 'grpo-tcr', { sandbox, plan: { measureAll: true } });
    // Measured, but exact is the recipe: the reward is that of the strict rules.
    expect(replyOf('tool-call', { reply }).observed.math).toEqual({ exact: false, equivalent: true });
    expect(reply.reward).toBeCloseTo(-0.9, 12);
  });
});

const TULU: Rollout = {
  question: 'How long is the Aare?',
  rubrics: [
    { description: 'States 288 km', weight: 1 },
    { description: 'Claims that it ends in Italy', weight: -1 },
  ],
  response: [
    '<call_tool name="google_search">Aare length</call_tool>',
    '<tool_output><snippet id="S1">The Aare is 288 km long.</snippet><snippet id="S2">It rises in the Alps.</snippet></tool_output>',
    '<answer><cite id="S1,S2">The Aare is 288 km long.</cite> Many people swim in it every summer day.</answer>',
  ].join('\n'),
};

const TULU_JUDGE: Answer = (request) => {
  if (request.kind === 'rubric') {
    const criteria = request.criteria.map(({ description }, n) => ({
      key: criterionKey(n),
      score: description === 'States 288 km' ? (2 as const) : (1 as const),
    }));
    return { kind: 'rubric', criteria };
  }
  if (request.kind !== 'citations') throw new Error(`dr-tulu asks no ${request.kind}`);
  return {
    kind: 'citations',
    claims: request.claims.map(({ claim, sources }) => ({
      claim,
      support: 1,
      relevant: sources.map((source) => source === 0),
      quote: 'absent',
    })),
    statements: request.statements.map(({ statement }) => ({ statement, needs_citation: true })),
  };
};

describe('dr-tulu', () => {
  it('corrected: keeps all ids, and judges the answer only', async () => {
    const reply = replyOf('dr-tulu', await scoreAlone(TULU, 'dr-tulu', { judge: TULU_JUDGE }));
    // Claim: support 1, relevance 1/2 -> F1 2/3; the uncited sentence needs a citation -> 0.
    expect(reply.details.claim_f1).toBeCloseTo(1 / 3, 12);
    expect(reply.details).toMatchObject({ compat: 'corrected', valid_id_ratio: 1, queries: 1 });
    expect(reply.components.rubric.value).toBeCloseTo(0.5, 12);
    const base = 0.5 * 0.5 + 0.2 * (0.6 / 3 + 0.4) + 0.2 * 1 + 0.1 / 3;
    expect(reply.base).toBeCloseTo(base, 12);
    expect(reply.reward).toBeCloseTo(10 * base, 12);
    expect(reply.criteria.map(({ key, weight, score }) => [key, weight, score])).toEqual([
      ['c1', 1, 2],
      ['c2', -1, 1],
    ]);
    // One call a criterion, as dr-tulu asks, and one for all claims.
    expect(reply.judgments.map(({ kind }) => kind)).toEqual(['rubric', 'rubric', 'citations']);
  });

  it('explains both modes with the judgments of both, asking what both ask once', async () => {
    const scored = await scoreAlone(TULU, 'dr-tulu', { judge: TULU_JUDGE, plan: { explain: true } });
    const { explain, reward, judgments } = replyOf('dr-tulu', scored);
    expect(explain?.corrected.reward).toBe(reward);
    expect(explain?.exact.details.compat).toBe('exact');
    // Exact keeps the last id alone (S2, not relevant here) and judges the transcript's other text too.
    expect(explain?.exact.details.claim_f1).not.toBe(explain?.corrected.details.claim_f1);
    expect(judgments.map(({ kind }) => kind).filter((kind) => kind === 'citations')).toHaveLength(2);
    expect(replyOf('dr-tulu', await scoreAlone(TULU, 'dr-tulu', { judge: TULU_JUDGE })).explain).toBeUndefined();
    expect(await refusedPaths(TRACE, 'longtrace-rl', { explain: true })).toEqual(['explain']);
  });

  it('pays format and search turns without an answer, and asks nobody; exact loses the search turns', async () => {
    const response = '<call_tool name="google_search">Aare length</call_tool> I give up.';
    const corrected = await scoreAlone({ ...TULU, response }, 'dr-tulu');
    expect(corrected.reply.base).toBeCloseTo(0.2 * 0.2 + 0.1 / 3, 12);
    expect(corrected.reply).toMatchObject({ status: 'scored', decided_by: 'no_answer', judgments: [] });
    const exact = await scoreAlone({ ...TULU, response }, 'dr-tulu-exact');
    expect(exact.reply.base).toBeCloseTo(0.2 * 0.2, 12);
  });

  it.each(['dr-tulu', 'dr-tulu-exact'])('%s has no number where a judgment failed', async (recipe) => {
    for (const lost of ['rubric', 'citations']) {
      const judge: Answer = (request) => (request.kind === lost ? 'judge_timeout' : TULU_JUDGE(request));
      const { reply } = await scoreAlone(TULU, recipe, { judge });
      expect(reply).toMatchObject({ reward: null, base: null, status: 'unscored', reason: 'judge_timeout' });
    }
  });

  it('leaves the reward standing where the lost judgment has no weight', async () => {
    const judge: Answer = (request) => (request.kind === 'citations' ? 'judge_timeout' : TULU_JUDGE(request));
    const { reply } = await scoreAlone(TULU, 'dr-tulu-no-citation', { judge, plan: { measureAll: true } });
    expect(reply).toMatchObject({ status: 'scored', components: { citation: { status: 'unscored', value: null } } });
  });

  it('replaces the reward where a non-stop penalty is on', async () => {
    const recipe = { base: 'dr-tulu', non_stop_penalty: { enabled: true, value: -10 } };
    const { reply } = await scoreAlone({ ...TULU, finish_reason: 'length' }, recipe);
    expect(reply).toMatchObject({ reward: -10, decided_by: 'non_stop_penalty', judgments: [] });
    expect(await refusedPaths(TULU, recipe)).toEqual(['finish_reason']);
    expect(await refusedPaths({ response: 'x' }, 'dr-tulu')).toEqual(['question', 'rubrics']);
  });
});
