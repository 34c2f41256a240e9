/** Three values of a claim: supported, contradicted, not in the source. A recipe asks for them and says what they cost. */
import { describe, expect, it } from 'vitest';
import { composeGroup } from '../../../src/families/composers.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import type { JudgmentRequest, Verdicts } from '../../../src/judgments/kinds/registry.ts';
import { criterionKey } from '../../../src/judgments/kinds/rubric/rubric.ts';
import { judgeLexically, LEXICAL_IDENTITY, LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { judgePrompt, modelJudgeIdentity, readReply } from '../../../src/judgments/model-judge.ts';
import { gapsOf } from '../../../src/runs/replay-group.ts';
import { CITATIONS } from '../judgments/requests.ts';
import { replyOf, resolved, scoreAlone } from '../scoring/scoring-line.ts';

const ROLLOUT: Rollout = {
  question: 'How long is the bridge?',
  response:
    '<answer><snippet id=S1>The bridge is 288 m long.</snippet> <snippet id=S1>It was closed in 1950.</snippet> ' +
    '<snippet id=S1>It is painted green.</snippet></answer>',
  tool_output: '<snippet id=S1>The old bridge has a length of 288 m. It was opened in 1950.</snippet>',
  positive_rubrics: [{ description: 'Gives the length.' }],
  finish_reason: 'stop',
};

/** Supports the first claim, denies the second one, and does not find the third one. */
function judge(request: JudgmentRequest): Verdicts {
  if (request.kind === 'rubric') {
    return { kind: 'rubric', criteria: request.criteria.map((_, n) => ({ key: criterionKey(n), score: 2 })) };
  }
  if (request.kind !== 'citations') throw new Error(`no verdicts on ${request.kind}`);
  const isAsked = request.asking?.contradiction === true;
  return {
    kind: 'citations',
    claims: request.claims.map(({ claim, sources }, n) => ({
      claim,
      support: n === 0 ? 1 : 0,
      relevant: sources.map(() => n === 0),
      quote: 'absent',
      ...(isAsked && n === 1 ? { contradicted: true as const, unsupported: { start: 7, end: 13 } } : {}),
    })),
    statements: [],
  };
}

const asked = { base: 'refiner-rl-balanced', ask_contradiction: true } as const;

describe('a judge that is asked for contradictions', () => {
  const request = { ...CITATIONS, asking: { contradiction: true } } as const;
  const reply = {
    k1: { reason: 'Denied.', quote: '', unsupported: '288', support: 'contradicted', relevant: [true] },
    k2: {
      reason: 'Half.',
      quote: 'in the Bernese Alps',
      unsupported: 'no such words',
      support: 'partial',
      relevant: [true, false],
    },
    u1: { reason: 'A fact.', needs_citation: true },
  };

  it('gives three values, and the words of a claim that its sources lack', () => {
    const start = CITATIONS.claims[0]?.text.indexOf('288') ?? Number.NaN;
    expect(start).toBeGreaterThan(0);
    expect(readReply(request, JSON.stringify(reply))).toMatchObject({
      ok: true,
      verdicts: {
        claims: [
          { support: 0, contradicted: true, quote: 'absent', unsupported: { start, end: start + 3 } },
          { support: 0.5, quote: { source: 1 } },
        ],
      },
    });
    expect(JSON.stringify(readReply(request, JSON.stringify(reply))).match(/unsupported"/g)).toHaveLength(1);
  });

  it('is asked another question, with another key; the usual reply has none of it', () => {
    expect(readReply(CITATIONS, JSON.stringify(reply))).toMatchObject({ ok: false, problem: 'wrong_shape' });
    const textOf = (one: Parameters<typeof judgePrompt>[0]) => JSON.stringify(judgePrompt(one).messages);
    expect(textOf(request)).toContain('contradicted');
    expect(textOf(CITATIONS)).not.toContain('contradicted');
    const templateOf = (asking: { contradiction?: true }) =>
      modelJudgeIdentity('m', 'citations', 'vllm', asking).template;
    expect(templateOf({ contradiction: true })).not.toBe(templateOf({}));
    expect(judgePrompt(request).max_reply_tokens).toBeGreaterThan(judgePrompt(CITATIONS).max_reply_tokens);
  });

  it('may be the lexical judge: another number or a negation on one side is a contradiction, with a key of its own', () => {
    const sources = [{ id: 'S1', text: 'The old bridge has a length of 288 m. It was never closed to the public.' }];
    const texts = [
      'The old bridge has a length of 288 m.',
      'The old bridge has a length of 310 m.',
      'It was closed to the public.',
      'It is painted green by volunteers from Kenya.',
    ];
    const claims = texts.map((text, claim) => ({ claim, text, sources: [0] }));
    const usual = { kind: 'citations', question: 'q', sources, claims, statements: [] } as const;
    const contradiction = { ...usual, asking: { contradiction: true } } as const;
    const verdictsOf = (one: typeof usual | typeof contradiction) => {
      const verdicts = judgeLexically(one);
      if (verdicts.kind !== 'citations') throw new Error('other verdicts');
      return verdicts.claims;
    };
    const given = verdictsOf(contradiction);
    expect(given.map(({ contradicted }) => contradicted)).toEqual([undefined, true, true, undefined]);
    expect(given.map(({ support }) => support)).toEqual([1, 0, 0, 0]);
    expect(given[1]).toMatchObject({ relevant: [false], unsupported: { start: 31, end: 34 } });
    expect(texts[3]?.slice(given[3]?.unsupported?.start, given[3]?.unsupported?.end)).toBe('Kenya');
    for (const one of verdictsOf(usual)) expect(Object.keys(one)).toEqual(['claim', 'support', 'relevant', 'quote']);

    expect(LEXICAL_JUDGE.unsupported?.({ contradiction: true })).toEqual([]);
    expect(LEXICAL_JUDGE.unsupported?.({ contradiction: true, evidence: 'quote' })).toEqual(['evidence quote']);
    expect(LEXICAL_JUDGE.identityFor('citations', {})).toEqual(LEXICAL_IDENTITY);
    expect(LEXICAL_JUDGE.identityFor('citations', { contradiction: true })).toEqual({
      ...LEXICAL_IDENTITY,
      template: `${LEXICAL_IDENTITY.template} contradiction`,
    });
  });
});

describe('the score', () => {
  it('counts a contradicted claim as an unsupported one, or as several, in a replay too', async () => {
    const { facts, reply } = await scoreAlone(ROLLOUT, asked, { judge });
    const plain = await scoreAlone(ROLLOUT, 'refiner-rl-balanced', { judge });
    expect(reply.reward).toBe(plain.reply.reward);
    const weighted = { ...asked, contradiction: 3 };
    const again = await scoreAlone(ROLLOUT, weighted, { judge });
    expect(again.facts).toEqual(facts);
    // Recall falls from 1/3 to 1/5.
    expect(replyOf('refiner', { reply }).details.citation_recall).toBeCloseTo(1 / 3);
    expect(replyOf('refiner', again).details.citation_recall).toBeCloseTo(1 / 5);
    const { recipe } = await resolved(weighted);
    expect(composeGroup([facts], recipe)[0]?.reward).toBe(again.reply.reward);
  });

  it('of a recorded run is replayed under the weight and under a price for quotations', async () => {
    const prices = { finding_penalty: { quotation_invented: 1 } };
    const recorded = await resolved({ ...asked, finding_penalty: {} });
    const stricter = await resolved({ ...asked, ...prices, contradiction: 3 });
    const quoting = {
      ...ROLLOUT,
      response: ROLLOUT.response.replace('It is painted green.', 'It is “green as the sea in the cold winter sun”.'),
    };
    const { facts, reply } = await scoreAlone(quoting, { ...asked, finding_penalty: {} }, { judge });
    expect(reply).toMatchObject({ finding_counts: { quotation_invented: 1 } });
    const row = { step: 0, group: 'g', sample: '0', recipe: recorded.digest, reward: reply.reward, facts };
    expect(gapsOf([row], recorded.recipe, stricter.recipe)).toEqual([[]]);
    const rewardUnder = ({ recipe }: typeof recorded) => composeGroup([facts], recipe)[0]?.reward ?? Number.NaN;
    expect(rewardUnder(recorded)).toBe(reply.reward);
    // The rubric is 1/2, because the answer also has the static faults; F1 of recall 1/5 and precision 1/3; a point
    // for the quotation.
    expect(rewardUnder(stricter)).toBeCloseTo(10 * (0.5 * 0.5 + 0.5 * 0.25) - 1);
  });

  it('of another question leaves a gap: a run without it cannot be replayed with a weight', async () => {
    const before = await resolved('refiner-rl-balanced');
    const after = await resolved({ ...asked, contradiction: 3 });
    const off = await resolved({ base: 'refiner-rl-balanced', ask_contradiction: false });
    const { facts } = await scoreAlone(ROLLOUT, 'refiner-rl-balanced', { judge });
    const row = { step: 0, group: 'g', sample: '0', recipe: before.digest, reward: 1, facts };
    expect(gapsOf([row], before.recipe, after.recipe)).toEqual([['recipe.ask_contradiction']]);
    expect(gapsOf([row], before.recipe, off.recipe)).toEqual([[]]);
  });

  it('needs the question for a weight', async () => {
    const result = await resolveRecipe({ base: 'refiner-rl-balanced', contradiction: 2 });
    expect(result).toMatchObject({ ok: false, error: [{ path: ['recipe', 'contradiction'] }] });
  });

  it('names the claim and its unsupported words in the reply', async () => {
    const { claims } = replyOf('refiner', await scoreAlone(ROLLOUT, asked, { judge }));
    expect(claims.map(({ contradicted }) => contradicted)).toEqual([undefined, true, undefined]);
    const { start = 0, end = 0 } = claims[1]?.unsupported ?? {};
    expect(ROLLOUT.response.slice(start, end)).toBe('closed');
  });

  it('of several judges is contradicted where most of them say so', async () => {
    const silent = (request: JudgmentRequest): Verdicts => {
      const verdicts = judge(request);
      if (verdicts.kind !== 'citations') return verdicts;
      return { ...verdicts, claims: verdicts.claims.map(({ contradicted: _, unsupported: __, ...claim }) => claim) };
    };
    const voted = async (judges: Record<string, typeof judge>) =>
      replyOf('refiner', await scoreAlone(ROLLOUT, { ...asked, vote: 'majority', contradiction: 3 }, { judges }))
        .details;
    expect((await voted({ a: judge, b: judge, c: silent })).citation_recall).toBeCloseTo(1 / 5);
    expect((await voted({ a: judge, b: silent, c: silent })).citation_recall).toBeCloseTo(1 / 3);
  });
});
