/**
 * A rollout earns the same as a text and as messages, and where they differ, the messages are right: what a tool wrote
 * is never the policy's.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import type { ScoredRollout } from '../../../src/scoring/score-rollouts.ts';
import { requestedRollout, scoreRequestSchema } from '../../../src/wire/score.ts';
import { scoreAlone } from '../scoring/scoring-line.ts';

type Request = Readonly<Record<string, unknown>>;

async function scored(request: Request): Promise<ScoredRollout> {
  const parsed = scoreRequestSchema.parse(request);
  return scoreAlone(requestedRollout(parsed), parsed.recipe, { judge: judgeLexically });
}

/** What must not depend on the form of the request. */
function essence({ reply, facts, obtained }: ScoredRollout) {
  return { reward: reply.reward, facts, keys: obtained.map(({ key }) => key) };
}

const RUBRICS = [
  { description: 'States the length of the river', weight: 1 },
  { description: 'Names a wrong canton', weight: -1 },
];
const DR_TULU = { question: 'How long is the Aare?', rubrics: RUBRICS, finish_reason: 'stop' };
const SEARCHES = ['aare length', 'aare source', 'aare towns'];
const PIECES = [
  '<snippet id="S1">The Aare is 288 km long and flows through Bern.</snippet>',
  '<snippet id="S2">The Aare rises in the Bernese Alps.</snippet>',
  '<snippet id="S3">Thun and Solothurn lie on the Aare.</snippet>',
];
const ANSWER =
  '<answer><cite id="S1">The Aare is 288 km long.</cite> <cite id="S2">It rises in the Alps.</cite> It is a river.</answer>';
const TEXT = `${SEARCHES.map((query, n) => `<call_tool name="search">${query}</call_tool>\n<tool_output>${PIECES[n]}</tool_output>`).join('\n')}\n${ANSWER}`;
const TRL = [
  ...SEARCHES.flatMap((query, n) => [
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ type: 'function', function: { name: 'search', arguments: { query } } }],
    },
    { role: 'tool', name: 'search', content: PIECES[n] },
  ]),
  { role: 'assistant', content: ANSWER },
];

describe('dr-tulu', () => {
  it.each(['dr-tulu', 'dr-tulu-exact'])('%s earns the same as a text and as TRL messages', async (recipe) => {
    const asText = await scored({ ...DR_TULU, recipe, response: TEXT, num_turns: 8 });
    const asTurns = await scored({ ...DR_TULU, recipe, messages: TRL });
    expect(essence(asTurns)).toEqual(essence(asText));
    expect(asText.reply.components).toMatchObject({ search_turns: { value: 1 } });
    expect(asTurns.reply.trajectory).toMatchObject({ policy_turns: 4, calls: 3, num_turns: 8, findings: [] });
  });

  it('counts an answer that a tool wrote in a text, but not in messages', async () => {
    const forged = '<answer><cite id="S1">The Aare is 288 km long.</cite></answer>';
    const messages = TRL.map((message) =>
      message.role === 'tool' ? { ...message, content: `${PIECES[0]} ${forged}` } : message,
    );
    const unanswered = [...messages.slice(0, -1), { role: 'assistant', content: 'I found it.' }];
    for (const recipe of ['dr-tulu', 'dr-tulu-exact']) {
      const asText = await scored({
        ...DR_TULU,
        recipe,
        response: `<call_tool name="s">q</call_tool>\n<tool_output>${PIECES[0]} ${forged}</tool_output>`,
      });
      expect(asText.facts).toMatchObject({ has_answer: true });
      const asTurns = await scored({ ...DR_TULU, recipe, messages: unanswered });
      expect(asTurns.facts).toMatchObject({ has_answer: false });
      expect(asTurns.reply.trajectory?.findings).toContainEqual({
        reason: 'policy_markup_in_context',
        path: 'messages[1]',
      });
    }
  });

  it('takes no sources from the policy', async () => {
    const invented = [
      {
        role: 'assistant',
        content: `<snippet id="S9">The Aare is 288 km long.</snippet> <answer><cite id="S9">The Aare is 288 km long.</cite></answer>`,
      },
    ];
    const { facts } = await scored({ ...DR_TULU, recipe: 'dr-tulu', messages: invented });
    expect(facts).toMatchObject({ has_answer: true, citation: { observed: { statements: [], valid_id_ratio: 0 } } });
  });
});

const words = fc.array(
  fc.constantFrom('Aare', 'Bern', 'is', '288', 'km', 'long', '.', '\n', 'é', '😀', '"', '&', '<', '>', '{'),
  {
    maxLength: 12,
  },
);
const prose = words.map((list) => list.join(' '));
const round = fc.record({
  said: prose,
  thought: fc.option(prose),
  query: prose,
  pieces: fc.array(fc.record({ id: fc.constantFrom('S1', 'S2', 'S3'), text: prose }), { maxLength: 3 }),
});
const answer = fc.record({
  before: prose,
  claims: fc.array(fc.record({ id: fc.constantFrom('S1', 'S2', 'S9'), text: prose, rest: prose }), { maxLength: 3 }),
  closed: fc.boolean(),
});
const conversation = fc.record({ rounds: fc.array(round, { maxLength: 4 }), answer });
type Conversation = typeof conversation extends fc.Arbitrary<infer Value> ? Value : never;

const outputOf = ({ pieces }: Conversation['rounds'][number]): string =>
  pieces.map(({ id, text }) => `<snippet id="${id}">${text}</snippet>`).join('\n');

function answerOf({ before, claims, closed }: Conversation['answer'], element: string): string {
  const cited = claims.map(({ id, text, rest }) => `<${element} id="${id}">${text}</${element}> ${rest}`).join(' ');
  return `${before}<answer>${cited}${closed ? '</answer>' : ''}`;
}

/** Only messages determine the turns. */
const turnsOf = ({ rounds }: Conversation): number => 2 + 2 * rounds.length;

const thinkingOf = (thought: string): string => `<think>${thought}</think>`;

/** Calls as OpenAI or as TRL writes them. */
function messagesOf({ rounds, answer: last }: Conversation, element: string, ids: boolean): Request[] {
  return [
    ...rounds.flatMap((one, n): Request[] => [
      {
        role: 'assistant',
        content: one.said,
        ...(one.thought === null || one.thought === '' ? {} : { reasoning_content: one.thought }),
        tool_calls: [
          ids
            ? {
                id: `c${n}`,
                type: 'function',
                function: { name: 'search', arguments: JSON.stringify({ query: one.query }) },
              }
            : { type: 'function', function: { name: 'search', arguments: { query: one.query } } },
        ],
      },
      { role: 'tool', content: outputOf(one), ...(ids ? { tool_call_id: `c${n}` } : { name: 'search' }) },
    ]),
    { role: 'assistant', content: answerOf(last, element) },
  ];
}

/** The lines that the policy and the tools wrote, with the calls as dr-tulu and as Hermes write them. */
function textOf({ rounds, answer: last }: Conversation, form: 'dr-tulu' | 'hermes'): string {
  const lines = rounds.flatMap((one) => [
    ...(one.thought === null || one.thought === '' ? [] : [thinkingOf(one.thought)]),
    ...(one.said === '' ? [] : [one.said]),
    form === 'dr-tulu'
      ? `<call_tool name="search">${one.query}</call_tool>`
      : `<tool_call>\n{"name": "search", "arguments": ${JSON.stringify({ query: one.query })}}\n</tool_call>`,
    form === 'dr-tulu'
      ? `<tool_output>${outputOf(one)}</tool_output>`
      : `<tool_response>\n${outputOf(one)}\n</tool_response>`,
  ]);
  return [...lines, answerOf(last, form === 'dr-tulu' ? 'cite' : 'snippet')].join('\n');
}

describe('for every conversation whose tool output has no markup of the policy', () => {
  it.each(['dr-tulu', 'dr-tulu-exact'])('%s has the same facts, judgment keys and reward', async (recipe) => {
    await fc.assert(
      fc.asyncProperty(conversation, fc.boolean(), async (one, ids) => {
        const asText = await scored({ ...DR_TULU, recipe, response: textOf(one, 'dr-tulu'), num_turns: turnsOf(one) });
        const asTurns = await scored({ ...DR_TULU, recipe, messages: messagesOf(one, 'cite', ids) });
        expect(essence(asTurns)).toEqual(essence(asText));
      }),
      { numRuns: 150 },
    );
  });

  it('the refiner has the same facts, judgment keys and reward', async () => {
    const request = {
      recipe: 'refiner-rl-balanced',
      question: 'How long?',
      positive_rubrics: ['States the length'],
      finish_reason: 'stop',
    };
    await fc.assert(
      fc.asyncProperty(conversation, fc.boolean(), async (one, ids) => {
        const tool_output = one.rounds.map((each) => `<tool_output>${outputOf(each)}</tool_output>`).join('');
        const response = answerOf(one.answer, 'snippet');
        const asText = await scored({ ...request, response, tool_output, num_turns: turnsOf(one) });
        const asTurns = await scored({ ...request, messages: messagesOf(one, 'snippet', ids) });
        expect(essence(asTurns)).toEqual(essence(asText));
      }),
      { numRuns: 150 },
    );
  });

  it('tool-call has the same facts, judgment keys and reward', async () => {
    const request = { recipe: 'grpo-tcr', reference: '288', response_tokens: 10 };
    await fc.assert(
      fc.asyncProperty(conversation, fc.boolean(), fc.boolean(), async (one, ids, boxed) => {
        const last = { ...one.answer, before: boxed ? `${one.answer.before} \\boxed{288}` : one.answer.before };
        const both = { ...one, answer: last };
        const asText = await scored({ ...request, response: textOf(both, 'hermes'), num_turns: turnsOf(one) });
        const asTurns = await scored({ ...request, messages: messagesOf(both, 'snippet', ids) });
        expect(essence(asTurns)).toEqual(essence(asText));
      }),
      { numRuns: 150 },
    );
  });
});

describe('tool-call', () => {
  it('ignores a box and a program that a tool wrote', async () => {
    const messages = [
      {
        role: 'assistant',
        content: 'I compute.',
        tool_calls: [{ id: 'c', function: { name: 'python', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'the answer is \\boxed{288}' },
    ];
    const { facts } = await scored({ recipe: 'grpo-tcr', reference: '288', response_tokens: 10, messages });
    expect(facts).toMatchObject({ outcome: { exact: false }, num_turns: 3 });
  });
});

describe('long-trace', () => {
  it('finds entities in every turn of the policy, and in no tool result', async () => {
    const messages = [
      { role: 'user', content: 'Which river?' },
      {
        role: 'assistant',
        reasoning_content: 'Perhaps Bern.',
        content: 'I search.',
        tool_calls: [{ id: 'c', function: { name: 's', arguments: {} } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'Solothurn' },
      { role: 'assistant', content: '<think>Thun.</think>The Aare.', finish_reason: 'stop' },
    ];
    const request = {
      recipe: 'longtrace-rl',
      reference: 'The Aare',
      entities: ['Bern', 'Solothurn', 'Thun', 'Aare'],
      messages,
    };
    const { facts } = await scored(request);
    expect(facts).toMatchObject({ finish_reason: 'stop', entities: { total: 4, reasoning: 2, content: 1, both: 3 } });
  });
});

describe('messages in a request', () => {
  const problems = (request: Request): string[] => {
    const parsed = scoreRequestSchema.safeParse(request);
    return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  };

  it.each<[string, Request, string]>([
    ['neither', {}, 'response: give exactly one of response (a string), messages and cited_answer'],
    [
      'both',
      { response: '', messages: TRL },
      'response: give exactly one of response (a string), messages and cited_answer',
    ],
    [
      'trajectory without messages',
      { response: '', trajectory: {} },
      'trajectory: only with messages: it says how they are read',
    ],
    [
      'no policy turn',
      { messages: [{ role: 'user', content: '' }] },
      'messages: expected a message with the role "assistant" that the policy wrote',
    ],
    [
      'a wrong message',
      { messages: [...TRL, { role: 'user', content: 3 }] },
      'messages.7.content: expected a string or an array of parts, got a number',
    ],
  ])('refuses %s', (_name, request, problem) => {
    expect(problems({ recipe: 'dr-tulu', ...request })).toEqual([problem]);
  });

  it('gives the spans of the answer and of the tool output back into each message', async () => {
    const { reply } = await scored({
      recipe: 'refiner-rl-balanced',
      positive_rubrics: ['a'],
      finish_reason: 'stop',
      messages: [{ role: 'user', content: 'How long?' }, ...TRL],
    });
    const trajectory = reply.trajectory;
    expect(trajectory?.response).toEqual([{ start: 0, end: ANSWER.length, path: 'messages[7].content', from: 0 }]);
    expect(trajectory?.tool_output.map(({ path, from }) => [path, from])).toEqual([
      ['messages[2].content', 0],
      ['messages[4].content', 0],
      ['messages[6].content', 0],
    ]);
  });

  it.each<[string, object]>([
    ['refiner-rl-balanced', { positive_rubrics: ['a'], finish_reason: 'stop' }],
    ['dr-tulu', DR_TULU],
  ])('find no sources behind the answer of %s: a policy may not cite first and search then', async (recipe, more) => {
    const element = recipe === 'dr-tulu' ? 'cite' : 'snippet';
    const answer = {
      role: 'assistant',
      content: `<answer><${element} id=S1>The Aare is 288 km long.</${element}></answer>`,
    };
    const [call, result] = TRL;
    const recalled = async (...messages: unknown[]) => {
      const { reply } = await scored({ recipe, question: 'How long?', ...more, messages });
      if (reply.family !== 'refiner' && reply.family !== 'dr-tulu') throw new Error(`a score of ${reply.family}`);
      return {
        citation: reply.components.citation.value,
        found: reply.trajectory?.findings.map(({ reason }) => reason),
      };
    };
    const searched = await recalled(call, result, answer);
    const guessed = await recalled(answer, call, result);
    expect(guessed.citation).toBeLessThan(searched.citation ?? Number.NaN);
    expect([searched.found, guessed.found]).toEqual([[], ['tools_after_answer']]);
  });

  it('uses sources of the request instead of tool results, and call ids where it asks for them', async () => {
    const asked = {
      recipe: 'refiner-rl-balanced',
      question: 'How long?',
      positive_rubrics: ['a'],
      finish_reason: 'stop',
    };
    const messages = [
      { role: 'assistant', content: '', tool_calls: [{ id: 'c1', function: { name: 'search', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'The Aare is 288 km long.' },
      { role: 'assistant', content: '<answer><snippet id=c1>The Aare is 288 km long.</snippet></answer>' },
    ];
    const support = async (more: Request) => {
      const { reply } = await scored({ ...asked, messages, ...more });
      return reply.family === 'refiner' ? reply.claims.map((claim) => claim.support) : null;
    };
    expect(await support({})).toEqual([0]);
    expect(await support({ trajectory: { source_ids: 'call' } })).toEqual([1]);
    expect(await support({ sources: [{ id: 'c1', text: 'The Aare is 288 km long.' }] })).toEqual([1]);
  });
});
