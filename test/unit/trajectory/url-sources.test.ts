/** Sources by address or call id: which pages tool results show, and what answers that cite them earn. */
import { describe, expect, it } from 'vitest';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import { readTrajectory } from '../../../src/trajectory/read.ts';
import { pageSources } from '../../../src/trajectory/url-sources.ts';
import { requestedRollout, scoreRequestSchema } from '../../../src/wire/score.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';
import { type Answer, refusedPaths, scoreAlone } from '../scoring/scoring-line.ts';

const AARE = 'https://rivers.example/aare';
const RHINE = 'https://rivers.example/rhine';
const LENGTH = 'The Aare is 288 km long.';
const MOUTH = 'The Rhine ends in the North Sea.';

const messagesOf = (output: string, args: object = {}, answer = 'x') => [
  { role: 'user', content: 'How long is the Aare?' },
  { role: 'assistant', content: '', tool_calls: [{ id: 'c1', function: { name: 'tool', arguments: args } }] },
  { role: 'tool', tool_call_id: 'c1', content: output },
  { role: 'assistant', content: answer },
];

function pagesIn(output: string, args: object = {}) {
  const read = readTrajectory(messagesOf(output, args));
  if (!read.ok) throw new Error('unreadable');
  const { sources, unplaced } = pageSources(read.value.turns);
  return { pages: sources.map(({ id, title, text }) => [id, title ?? '', text]), unplaced };
}

describe('the pages of a tool result', () => {
  it.each<[string, string, object, readonly (readonly string[])[]]>([
    [
      'a page that the call names',
      `# The Aare\n[map](${RHINE})`,
      { url: AARE },
      [[AARE, '', `# The Aare\n[map](${RHINE})`]],
    ],
    [
      'JSON',
      JSON.stringify({
        hits: [
          { title: 'Aare', link: AARE, snippet: LENGTH },
          { url: RHINE, text: [MOUTH] },
        ],
      }),
      { query: 'Aare' },
      [
        [AARE, 'Aare', LENGTH],
        [RHINE, '', MOUTH],
      ],
    ],
    [
      'pages within pages',
      JSON.stringify({ url: AARE, text: LENGTH, links: [{ url: RHINE, name: 'Rhine', text: MOUTH }] }),
      {},
      [
        [AARE, '', LENGTH],
        [RHINE, 'Rhine', MOUTH],
      ],
    ],
    [
      'tagged pieces',
      `<snippet id=S1 url="${AARE}">${LENGTH}</snippet><webpage id=${RHINE}>${MOUTH}</webpage>`,
      {},
      [
        [AARE, '', LENGTH],
        [RHINE, '', MOUTH],
      ],
    ],
    [
      'labelled lines',
      `Aare\nURL: ${AARE}\n${LENGTH}\nSee ${RHINE}/map too.\n\nRhine\nURL: ${RHINE}\n\n${MOUTH}`,
      {},
      [
        [AARE, '', `Aare\nURL: ${AARE}\n${LENGTH}\nSee ${RHINE}/map too.`],
        [RHINE, '', `Rhine\nURL: ${RHINE}\n\n${MOUTH}`],
      ],
    ],
    [
      'addresses in lines',
      `1. ${LENGTH} (${AARE}) 2020\n2. ${MOUTH} (${RHINE}) 2021`,
      {},
      [
        [AARE, '', `1. ${LENGTH} (${AARE}) 2020`],
        [RHINE, '', `2. ${MOUTH} (${RHINE}) 2021`],
      ],
    ],
    [
      'one line',
      `[{'url': '${AARE}', 'text': '${LENGTH}'}, {'url': '${RHINE}', 'text': '${MOUTH}'}]`,
      {},
      [
        [`${AARE}`, '', `[{'url': '${AARE}', 'text': '${LENGTH}'}, {'url': '`],
        [RHINE, '', `${RHINE}', 'text': '${MOUTH}'}]`],
      ],
    ],
  ])('%s', (_name, output, args, pages) => {
    expect(pagesIn(output, args)).toEqual({ pages, unplaced: [] });
  });

  it('are one source if several results show them, and one without an address is a finding', () => {
    const search = JSON.stringify([{ url: `${AARE}/#top`, text: LENGTH }]);
    const messages = [
      ...messagesOf(search),
      ...messagesOf(LENGTH, { url: `HTTP${AARE.slice(5)}` }),
      ...messagesOf('It rises in the Alps.', { url: AARE }),
      ...messagesOf('no address here'),
    ];
    const read = readTrajectory(messages);
    if (!read.ok) throw new Error('unreadable');
    const { sources, unplaced } = pageSources(read.value.turns);
    expect(sources).toMatchObject([{ id: `${AARE}/#top`, text: `${LENGTH}\n\nIt rises in the Alps.` }]);
    expect(unplaced).toEqual([['messages', 14]]);
  });

  it('are read in linear time', () => {
    for (const piece of ['https://a.b/c ', 'URL: https://a.b/c\n', 'http://', '[{"url":"https://a.b"},', '\n\n']) {
      const read = (text: string) => pagesIn(`x${text}`);
      expectLinear(read, piece.repeat(3_000), piece.repeat(3_000 * GROWTH));
    }
  });
});

type Fields = Readonly<Record<string, unknown>>;

async function scored(fields: Fields, judge: Answer = judgeLexically) {
  const parsed = scoreRequestSchema.parse(fields);
  return scoreAlone(requestedRollout(parsed), parsed.recipe, { judge });
}

const OUTPUT = JSON.stringify([{ url: AARE, text: LENGTH }]);
const QUESTION = { finish_reason: 'stop', recipe: 'refiner-rl-balanced', positive_rubrics: ['a'] };

describe('source_ids', () => {
  it.each<[string, Fields]>([
    ['refiner', QUESTION],
    ['dr-tulu', { ...QUESTION, recipe: 'dr-tulu', rubrics: [{ description: 'a', weight: 1 }] }],
  ])('url and call find the sources of %s', async (family, fields) => {
    const { positive_rubrics: _, ...rest } = fields;
    const request = family === 'refiner' ? fields : rest;
    const element = family === 'refiner' ? 'snippet' : 'cite';
    const citing = async (id: string, source_ids: string) => {
      const messages = messagesOf(OUTPUT, {}, `<answer><${element} id="${id}">${LENGTH}</${element}></answer>`);
      const { reply } = await scored({ ...request, messages, trajectory: { source_ids } });
      if (reply.family !== 'refiner' && reply.family !== 'dr-tulu') throw new Error(`a score of ${reply.family}`);
      return reply.components.citation.value;
    };
    const none = await citing('c1', 'url');
    expect(await citing('c1', 'call')).toBeGreaterThan(none ?? Number.NaN);
    const known = await citing(AARE, 'url');
    expect(known).toBeGreaterThan(none ?? Number.NaN);
    // Another spelling is the same page.
    expect(await citing('http://Rivers.example/aare/', 'url')).toBe(known);
  });

  it('reports another spelling, results without a page, and the place of each source', async () => {
    const answer = `<answer><snippet id=HTTP${AARE.slice(5)}>${LENGTH}</snippet></answer>`;
    const messages = [...messagesOf('nothing'), ...messagesOf(OUTPUT, {}, answer)];
    const { reply } = await scored({ ...QUESTION, messages, trajectory: { source_ids: 'url' } });
    if (reply.family !== 'refiner') throw new Error('no refiner');
    expect(reply.claims[0]?.ids).toMatchObject([{ id: AARE, source: 0 }]);
    expect(reply.findings.map(({ reason }) => reason)).toContain('citation_url_alias');
    expect(reply.trajectory).toMatchObject({
      sources: ['messages[6]'],
      findings: [{ reason: 'result_without_source', path: 'messages[2]' }],
    });
  });

  it('finds the pages of every tool for carr', async () => {
    const messages = messagesOf(OUTPUT, {}, `The Aare [[1](${AARE}/)].`);
    const carr = { recipe: 'carr', reference: 'the Aare', entity_rubrics: ['<E0> is a river.'], finish_reason: 'stop' };
    const request = { ...carr, messages, trajectory: { source_ids: 'url' } };
    const { reply } = await scored(request, () => 'judge_unreachable');
    expect(reply).toMatchObject({ family: 'carr', citations: { cited: 1, pages: 1, unseen: [] } });
  });

  it.each(['dr-tulu-exact', 'carr-exact'])('is refused by %s, whose code reads one kind', async (recipe) => {
    const rubrics = { rubrics: [{ description: 'a', weight: 1 }], entity_rubrics: ['<E0> is a river.'] };
    const fields = { recipe, ...rubrics, reference: 'x', finish_reason: 'stop', messages: messagesOf(OUTPUT) };
    const parsed = scoreRequestSchema.parse({ ...fields, trajectory: { source_ids: 'url' } });
    expect(await refusedPaths(requestedRollout(parsed), parsed.recipe)).toEqual(['trajectory.source_ids']);
  });
});
