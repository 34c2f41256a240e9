/** The carr family: two stages, why a criterion fails, lost judgments alone and in groups, and the rows of the reference. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { citedAddresses } from '../../../src/families/carr/addresses.ts';
import { openedPage, searchedPages } from '../../../src/families/carr/pages.ts';
import { shareRange } from '../../../src/families/carr/share.ts';
import { composeGroup, type Facts, RECIPES } from '../../../src/families/composers.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import { fill, labelsOf, labelsOfAll } from '../../../src/judgments/kinds/entities/labels.ts';
import { createNameFinder } from '../../../src/judgments/kinds/entities/name-finder.ts';
import type { JudgmentRequest } from '../../../src/judgments/kinds/registry.ts';
import { pageKey } from '../../../src/text/url.ts';
import { goldenRows } from '../golden.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';
import { type Answer, refusedPaths, replyOf, scoreAlone, scoreMembers } from '../scoring/scoring-line.ts';

const LIGHT = 'https://almanac.example/skarvholm';
const GLASS = 'https://glass.example/bremvik';
const ROLLOUT: Rollout = {
  question: 'Which lighthouse was built by the engineer who later founded a glassworks?',
  reference: 'Skarvholm Light',
  response: `<think>…</think>Skarvholm Light [[0](${LIGHT})], built by Idun Farstad, founder of Bremvik Glassworks [1](${GLASS}/#top).`,
  finish_reason: 'stop',
  sources: [
    { id: 'a', url: LIGHT, text: 'Skarvholm Light was built by Idun Farstad.' },
    { id: 'b', url: GLASS, text: 'Idun Farstad founded Bremvik Glassworks.' },
  ],
  entity_rubrics: ['<E0> is a lighthouse.', '<E0> was built by <E1>.', '<E1> founded <E2>.'],
};
const NAMES: Readonly<Record<string, string | null>> = {
  E0: 'Skarvholm Light',
  E1: 'Idun Farstad',
  E2: 'Bremvik Glassworks',
};

type Script = {
  readonly correct?: boolean;
  readonly names?: Readonly<Record<string, string | null>>;
  readonly supported?: readonly boolean[];
  readonly down?: readonly JudgmentRequest['kind'][];
};

/** A judge that answers as the script says; by default everything is right, named and supported. */
function judging(
  { correct = true, names = NAMES, supported, down = [] }: Script,
  asked: JudgmentRequest[] = [],
): Answer {
  return (request) => {
    asked.push(request);
    if (down.includes(request.kind)) return 'judge_unreachable';
    switch (request.kind) {
      case 'outcome':
      case 'outcome_text':
        return { kind: request.kind, correct };
      case 'entities': {
        const find = createNameFinder(request.answer);
        return {
          kind: 'entities',
          entities: request.labels.map((label) => ({ label, span: find(names[label] ?? '') })),
        };
      }
      case 'entities_text':
        return {
          kind: 'entities_text',
          entities: request.labels.map((label) => ({ label, name: names[label] ?? null })),
        };
      case 'statements':
      case 'statements_text':
        return { kind: request.kind, supported: request.statements.map((_, n) => supported?.[n] ?? true) };
      default:
        throw new Error(`nobody should be asked about ${request.kind}`);
    }
  };
}

const scored = async (script: Script, change: Partial<Rollout> = {}, recipe: object | string = 'carr') =>
  replyOf(
    'carr',
    await scoreAlone({ ...ROLLOUT, ...change }, typeof recipe === 'string' ? recipe : { base: 'carr', ...recipe }, {
      judge: judging(script),
    }),
  );

describe.each(['carr', 'carr-exact'])('%s', (recipe) => {
  it('asks about support only what the first stage named, with the names in place', async () => {
    const asked: JudgmentRequest[] = [];
    const response = `Skarvholm Light [[0](${LIGHT})], built by Idun Farstad, founder of Bremvik Glassworks [[1](${GLASS})].`;
    const judge = judging({ names: { ...NAMES, E2: null }, supported: [true, false] }, asked);
    const reply = replyOf('carr', await scoreAlone({ ...ROLLOUT, response }, recipe, { judge }));
    const suffix = recipe === 'carr' ? '' : '_text';
    expect(asked.map(({ kind }) => kind)).toEqual([`outcome${suffix}`, `entities${suffix}`, `statements${suffix}`]);
    expect(asked[2]).toMatchObject({
      statements: ['Skarvholm Light is a lighthouse.', 'Skarvholm Light was built by Idun Farstad.'],
    });
    expect(reply.reward).toBeCloseTo(0.7 + 0.3 / 3, 12);
    expect(reply.entity_rubrics.map(({ counts, failed }) => [counts, failed])).toEqual([
      [true, null],
      [false, 'not_supported'],
      [false, 'not_named'],
    ]);
    expect(reply.judgments).toHaveLength(3);
  });

  it('has no number without a judge, whichever question is lost', async () => {
    const suffix = recipe === 'carr' ? '' : '_text';
    for (const kind of ['outcome', 'entities', 'statements'] as const) {
      const response = `Skarvholm Light, Idun Farstad, Bremvik Glassworks [[0](${LIGHT})]`;
      const judge = judging({ down: [`${kind}${suffix}` as JudgmentRequest['kind']] });
      const { reply, failure } = await scoreAlone({ ...ROLLOUT, response }, recipe, { judge });
      expect(reply, kind).toMatchObject({ reward: null, status: 'unscored', reason: 'judge_unreachable' });
      expect(failure?.reason, kind).toBe('judge_unreachable');
    }
  });

  it('pays a wrong answer 0 without its criteria, under positive_only', async () => {
    const judge = judging({ correct: false, down: ['entities', 'entities_text'] });
    const { reply, failure } = await scoreAlone(ROLLOUT, recipe, { judge });
    expect(reply).toMatchObject({ reward: 0, status: 'scored', components: { rubric: { status: 'unscored' } } });
    expect(failure).toBeNull();
  });

  it('does not judge a truncated response', async () => {
    const { reply } = await scoreAlone({ ...ROLLOUT, finish_reason: 'length' }, recipe);
    expect(reply).toMatchObject({ reward: 0, decided_by: 'ill_formed', judgments: [] });
  });
});

describe('carr', () => {
  it('says why each criterion counts or not', async () => {
    const apart = await scored({ supported: [true, false, true] });
    expect(apart.entity_rubrics.map(({ failed }) => failed)).toEqual([null, 'not_supported', 'not_connected']);
    expect(apart.names).toEqual(NAMES);
    const uncited = await scored(
      {},
      { response: 'Skarvholm Light, by Idun Farstad of Bremvik Glassworks [0](https://x.example).' },
    );
    expect(uncited.entity_rubrics.map(({ failed }) => failed)).toEqual(['not_cited', 'not_cited', 'not_cited']);
    expect(uncited).toMatchObject({ reward: 0.7, citations: { cited: 1, pages: 0, unseen: ['https://x.example'] } });
  });

  it('counts supported criteria that nothing connects to the answer, if the recipe says so', async () => {
    const script = { supported: [true, false, true] };
    expect((await scored(script)).details.rubric_share).toBeCloseTo(1 / 3, 12);
    expect((await scored(script, {}, { connected: false })).details.rubric_share).toBeCloseTo(2 / 3, 12);
  });

  it('knows no name that the answer does not contain', async () => {
    const reply = await scored({ names: { ...NAMES, E1: 'Mirela Stoch' } });
    expect(reply.entity_rubrics.map(({ failed }) => failed)).toEqual([null, 'not_named', 'not_named']);
  });

  it('refuses criteria that can never count, and rows without criteria', async () => {
    const refused = (entity_rubrics: string[]) => refusedPaths({ ...ROLLOUT, entity_rubrics }, 'carr');
    expect(await refused(['Lakes are deep.', '<E0> is old.'])).toEqual(['entity_rubrics.0']);
    expect(await refused(['<E1> met <E2>.'])).toEqual(['entity_rubrics']);
    const { entity_rubrics: _none, ...without } = ROLLOUT;
    expect(await refusedPaths(without, 'carr')).toEqual(['entity_rubrics']);
    const outcomeOnly = await scoreAlone(without, { base: 'carr', eta: 0 }, { judge: judging({}) });
    expect(outcomeOnly.reply).toMatchObject({ reward: 1, components: { rubric: { weight: 0 } } });
  });

  it('reads the pages of messages with browser tools', async () => {
    const { sources: _sources, response, ...rest } = ROLLOUT;
    const call = (id: string, name: string, args: object) => ({
      role: 'assistant',
      tool_calls: [{ session_id: 's', tool_call_id: id, name, arguments: JSON.stringify(args) }],
    });
    const result = (id: string, output: string) => ({ role: 'tool', content: [{ tool_call_id: id, output }] });
    const messages = [
      { role: 'user', content: 'q' },
      call('c1', 'browser.search', { query: 'light' }),
      result(
        'c1',
        `[0] Title: Light\n[0] URL Source: ${LIGHT}\n[0] Description: Built by [7] Title: x Farstad.\n\n[1] Title: Works\n[1] URL Source: ${GLASS}\n[1] Description:`,
      ),
      call('c2', 'browser.open', { id: 1 }),
      result('c2', 'Could not load the page.'),
      call('c3', 'browser.find', { pattern: 'Farstad' }),
      result('c3', '[Match 1]\nIdun Farstad founded it.'),
      { role: 'assistant', content: response },
    ];
    const asked: JudgmentRequest[] = [];
    await scoreAlone({ ...rest, response, messages }, 'carr', { judge: judging({}, asked) });
    expect(asked.at(-1)).toMatchObject({
      sources: [
        { id: LIGHT, title: 'Light', text: 'Built by [7] Title: x Farstad.' },
        { id: GLASS, title: 'Works', text: '[Match 1]\nIdun Farstad founded it.' },
      ],
    });
  });
});

describe('a group', () => {
  const member = (n: number): Rollout => ({ ...ROLLOUT, response: `${n}: ${ROLLOUT.response.slice(16)}` });
  const number = (request: JudgmentRequest) =>
    'answer' in request ? Number(request.answer.split(':')[0]) : Number.NaN;

  it('divides by the best share, and an unknown one leaves unscored only the right answers that it can change', async () => {
    const outcomes = [true, true, true, false];
    const names = [NAMES, NAMES, {}, NAMES];
    const of = (down: boolean) =>
      scoreMembers([0, 1, 2, 3].map(member), 'carr', {
        judge: (request) => {
          const n = number(request);
          if (down && n === 0 && request.kind === 'entities') return 'judge_unreachable';
          if (request.kind === 'statements') {
            return { kind: 'statements', supported: request.statements.map((_, at) => at === 0) };
          }
          return judging({ correct: outcomes[n] ?? true, names: names[n] ?? NAMES })(request);
        },
      });
    expect((await of(false)).map(({ reply }) => reply.reward)).toEqual([1, 1, 0.7, 0]);
    const open = await of(true);
    expect(open.map(({ reply }) => reply.reward)).toEqual([null, null, 0.7, 0]);
    expect(open[1]?.reply).toMatchObject({ reason: 'group_vote_unknown', depends_on: [0] });
    expect(open[1]?.failure?.reason).toBe('judge_unreachable');
  });

  const criteria = [['E0'], ['E0', 'E1'], ['E1', 'E2']];
  const LOST = { status: 'unscored', reason: 'judge_timeout' } as const;
  const bools = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean());
  const labels = fc.subarray(['E0', 'E1', 'E2']);
  const whole = fc.record({ right: fc.boolean(), named: labels, supported: bools, pages: fc.constantFrom(0, 2) });
  type Whole = { right: boolean; named: string[]; supported: boolean[]; pages: number };
  const factsOf = ({ right, named, supported, pages }: Whole): Extract<Facts, { family: 'carr' }> => ({
    v: 1,
    family: 'carr',
    compat: 'corrected',
    has_answer: true,
    finish_reason: 'stop',
    outcome: { status: 'scored', observed: right ? 1 : 0 },
    criteria,
    pages,
    named: { status: 'scored', observed: named },
    supported: {
      status: 'scored',
      observed: criteria.map((own, n) => pages > 0 && supported[n] === true && own.every((one) => named.includes(one))),
    },
  });
  const lose = (facts: Extract<Facts, { family: 'carr' }>, part: 'names' | 'support') => ({
    ...facts,
    ...(part === 'names' ? { named: LOST } : {}),
    supported: LOST,
  });
  const recipes = fc.record({
    variant: fc.constantFrom('positive_only' as const, 'negative_only' as const, 'plain' as const),
    normalisation: fc.constantFrom('none' as const, 'published' as const, 'normalised' as const),
    eta: fc.constantFrom(0, 0.3, 1),
    connected: fc.boolean(),
  });

  it('has the same final rewards under all completions of its lost values', () => {
    fc.assert(
      fc.property(
        fc.array(whole, { minLength: 2, maxLength: 5 }),
        fc.array(fc.option(fc.constantFrom('names' as const, 'support' as const)), { minLength: 5, maxLength: 5 }),
        fc.array(whole, { minLength: 5, maxLength: 5 }),
        recipes,
        (members, lost, others, changed) => {
          const recipe = { ...RECIPES.carr, ...changed };
          const complete = members.map(factsOf);
          const partial = complete.map((facts, n) => (lost[n] == null ? facts : lose(facts, lost[n])));
          // Another completion: what is known stays.
          const again = complete.map((facts, n) => {
            const other = others[n];
            const { right, pages, named } = members[n] ?? { right: false, pages: 0, named: [] };
            if (lost[n] == null || other === undefined) return facts;
            return factsOf({ ...other, right, pages, named: lost[n] === 'names' ? other.named : named });
          });
          const rewards = composeGroup(partial, recipe).map(({ reward }) => reward);
          for (const completion of [complete, again]) {
            const full = composeGroup(completion, recipe);
            for (const [n, reward] of rewards.entries())
              if (reward !== null) expect(full[n]?.reward).toBeCloseTo(reward, 12);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('keeps every completion within the bounds of a share', () => {
    fc.assert(
      fc.property(
        whole,
        fc.constantFrom('names' as const, 'support' as const),
        fc.boolean(),
        (one, part, connected) => {
          const facts = factsOf(one);
          const { least, most } = shareRange(lose(facts, part), connected);
          const { most: share } = shareRange(facts, connected);
          expect(share).toBeGreaterThanOrEqual(least);
          expect(share).toBeLessThanOrEqual(most);
        },
      ),
    );
  });
});

describe('the rows of the reference that show no defect', () => {
  const rows = goldenRows('carr.jsonl').filter(({ defect }) => defect !== true);
  const of = (fn: string) => rows.filter((row) => row.fn === fn).map((row) => [row.id, row] as const);

  it.each(of('extract_entity_ids'))('%s', (_id, { input, output }) => {
    expect(labelsOfAll([String(input['text'])])).toEqual(output);
  });

  it.each(of('fill_rubric_with_entity_value'))('%s', (_id, { input, output }) => {
    const names = Object.entries(Object(input['all_entity_values'])) as [string, string | null][];
    const known = new Map(names.flatMap(([label, name]) => (name === null ? [] : [[label, name] as const])));
    expect(fill(String(input['rubric']), known)).toBe(Object(output).filled_rubric);
  });

  it.each(of('extract_search_results'))('%s', (_id, { input, output }) => {
    const found = searchedPages(String(input['text'])).map(({ number, title, url, description, date }) => ({
      idx: Number(number),
      query: input['query'],
      url,
      title,
      snippet: description,
      published_time: date,
    }));
    expect(found).toEqual(output);
  });

  it.each(of('extract_open_results'))('%s', (_id, { input, output }) => {
    const { title, url, date, content } = openedPage(String(input['text']));
    const { content: expected, ...head } = Object(output);
    expect({ title, url, published_time: date }).toEqual(head);
    expect(content).toBe(expected);
  });

  it.each(of('get_rubric_reward'))('%s', async (id, { input, output }) => {
    const { response, question, answer, history, rubrics, judge } = Object(input);
    const fenced = (replies: readonly string[]) =>
      JSON.parse(replies.at(-1)?.split('```json')[1]?.split('```')[0] ?? '{}');
    const names = fenced(judge.identify);
    const supported = judge.rubric === undefined ? [] : Object.values(fenced(judge.rubric)).map(Boolean);
    // The answer of this row does not contain one of the names, which a correct answer would.
    const text = id === 'car-s072' ? `${response} The Immer fair.` : response;
    const rollout: Rollout = {
      question,
      reference: answer,
      response: text,
      messages: [...history, { role: 'assistant', content: text }],
      entity_rubrics: rubrics,
      finish_reason: 'stop',
    };
    const { reply } = await scoreAlone(rollout, 'carr', { judge: judging({ names, supported }) });
    const carr = replyOf('carr', { reply });
    expect(carr.details.rubric_share).toBeCloseTo(Object(output).reward, 9);
    expect(carr.entity_rubrics.map(({ counts }) => (counts === true ? 1 : 0))).toEqual(
      Object.values(Object(output).rubric_scores).map((one) => Object(one).score),
    );
  });

  it.each(of('generate_and_rm_group'))('%s', (_id, { input, output }) => {
    const { outcome_rewards, rubric_rewards, ill_formed = [], is_supported, ...flags } = Object(input);
    if (is_supported !== undefined) return;
    const variant = flags.rubric_only_negative
      ? 'negative_only'
      : flags.rubric_only_positive
        ? 'positive_only'
        : 'plain';
    const recipe = {
      ...RECIPES.carr,
      variant,
      eta: flags.rubric_reward_ratio,
      normalisation: flags.normalize ? 'normalised' : 'none',
      connected: false,
    } as const;
    // Twentieths: 0.25 of 20 criteria are 5.
    const members = outcome_rewards.map((right: number, n: number): Facts => {
      const named = { status: 'scored', observed: ['E0'] } as const;
      const observed = Array.from({ length: 20 }, (_, at) => at < Math.round(rubric_rewards[n] * 20));
      return {
        v: 1,
        family: 'carr',
        compat: 'corrected',
        has_answer: true,
        finish_reason: ill_formed[n] === true ? 'length' : 'stop',
        outcome: { status: 'scored', observed: right === 1 ? 1 : 0 },
        criteria: observed.map(() => ['E0']),
        pages: 1,
        named,
        supported: { status: 'scored', observed },
      };
    });
    for (const [n, { reward }] of composeGroup(members, recipe).entries()) {
      expect(reward).toBeCloseTo(Object(output).rewards[n], 9);
    }
  });
});

describe('addresses', () => {
  it.each([
    ['[0](https://a.example/x) and [[1](https://b.example)]', ['https://a.example/x', 'https://b.example']],
    [
      '[[1](https://a.example/M_(V),_n)；[2](https://b.example/c)]。',
      ['https://a.example/M_(V),_n', 'https://b.example/c'],
    ],
    [
      '[a](https://r.jina.ai/https://a.example), [b](view-source:https://b.example)',
      ['https://a.example', 'https://b.example'],
    ],
    ['[a](https://a.example/) [b](http://A.example#top)', ['https://a.example/']],
    ['Lit in 1884 [2].\n\n## References\n[1]: https://a.example\n[2]: https://b.example.', ['https://b.example']],
    ['Lit in 1884 [1].\n\nReferences\n1. https://a.example\n2. https://b.example', ['https://a.example']],
    ['[x](/relative) [y](mailto:a@b.example) [z](https://a.example', []],
  ])('%s', (answer, cited) => {
    expect(citedAddresses(answer)).toEqual(cited);
  });

  it('are one page without scheme, fragment, slash at the end and letter case of the host', () => {
    expect(pageKey('HTTPS://A.example:443/Path/?q=1#x')).toBe('a.example/Path?q=1');
    expect(pageKey('http://a.example/')).toBe(pageKey('https://A.EXAMPLE'));
    expect(pageKey('https://a.example/a')).not.toBe(pageKey('https://a.example/A'));
  });

  it('are read in linear time', () => {
    for (const piece of ['[1](https://a', '(', '[1] ', '\n[1]: http', '](']) {
      expectLinear(citedAddresses, piece.repeat(2_000), piece.repeat(2_000 * GROWTH));
    }
  });
});

it('reads labels with ASCII digits only', () => {
  expect(labelsOf('<E３> supplies <E1>, <E01>.')).toEqual(['E1', 'E01']);
});
