/**
 * More claims or statements than a judge's context takes: the judge sees those that fit, and the others count as not
 * supported. A policy cannot leave itself unscored by what it writes; a row that is too long is a failure.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verdictsOf } from '../../../src/family/observe.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import type { Judge } from '../../../src/judgments/judge.ts';
import { fitToJudge } from '../../../src/judgments/judge.ts';
import type { JudgmentOutcome } from '../../../src/judgments/judgment.ts';
import type { CitationsRequest } from '../../../src/judgments/kinds/citations/citations.ts';
import type { JudgmentRequest, ReadingRequest, Verdicts } from '../../../src/judgments/kinds/registry.ts';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import { judgePrompt } from '../../../src/judgments/model-judge.ts';
import { estimateTokens } from '../../../src/judgments/protocol/token-estimate.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { MAX_CLAIMS, MAX_STATEMENTS } from '../../../src/limits.ts';
import { type ScoredRollout, scoreRollout } from '../../../src/scoring/score-rollouts.ts';
import { scoreResponseSchema } from '../../../src/wire/score.ts';
import { resolved } from '../scoring/scoring-line.ts';
import { CITATIONS } from './requests.ts';

const SUPPORTED = 'The Aare is 288 kilometres long.';

function claimsOf(texts: readonly string[]): CitationsRequest {
  return { ...CITATIONS, claims: texts.map((text, claim) => ({ claim, text, sources: [0] })) };
}

function fitted(request: JudgmentRequest, context_tokens: number) {
  return fitToJudge(request, { context_tokens }, new Set([0]));
}

/** The prompt of the request that the judge sees, with the reply that it may write. */
function tokensOf(request: ReadingRequest): number {
  const { messages, max_reply_tokens } = judgePrompt(request);
  return messages.reduce((sum, { content }) => sum + estimateTokens(content), max_reply_tokens);
}

describe('a citations request', () => {
  it('asks about the claims that fit, in order, and leaves half of the room to the sources', () => {
    const source = { id: 'S1', text: 'word '.repeat(10_000) };
    const request = { ...claimsOf(Array.from({ length: 100 }, () => SUPPORTED)), sources: [source] };
    const cut = fitted(request, 8_000);
    if (!cut.ok || cut.request.kind !== 'citations') throw new Error('not fitted');
    const { judged = [], entries } = cut.entries_cut ?? {};
    expect(entries).toBe(101);
    expect(judged).toEqual(judged.map((_, n) => n));
    expect(cut.request.claims).toEqual(request.claims.slice(0, judged.length));
    expect(judged.length).toBeGreaterThan(5);
    expect(estimateTokens(cut.request.sources[0]?.text ?? '')).toBeGreaterThan(2_500);
  });

  it('leaves out a gigantic claim and asks about the others', () => {
    const request = claimsOf([SUPPORTED, '7'.repeat(20_000), SUPPORTED]);
    const cut = fitted(request, 8_000);
    expect(cut).toMatchObject({ ok: true, entries_cut: { judged: [0, 2, 3], entries: 4 } });
  });

  it('asks nothing if each entry is gigantic', () => {
    const request = { ...claimsOf(['7'.repeat(20_000)]), statements: [] };
    expect(fitted(request, 8_000)).toMatchObject({ ok: false, entries_cut: { judged: [], entries: 1 } });
  });

  it('counts the sources of a claim that cites hundreds', () => {
    const sources = Array.from({ length: 600 }, (_, n) => ({ id: `S${n}`, text: '' }));
    const cited = sources.map((_, n) => n);
    const request = { ...CITATIONS, sources, claims: [{ claim: 0, text: SUPPORTED, sources: cited }], statements: [] };
    for (const context of [29_000, 40_000]) {
      const cut = fitted(request, context);
      if (cut.ok && cut.request.kind === 'citations') {
        expect(context).toBe(40_000);
        expect(tokensOf(cut.request)).toBeLessThanOrEqual(context);
      } else expect(cut).toMatchObject({ ok: false, entries_cut: { judged: [] } });
    }
  });

  it('fits any context that takes its question, and is the same when it is cut again', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.nat(8_000).map((length) => '7'.repeat(length)),
    );
    const shape = fc.record({
      claims: fc.array(text, { maxLength: 60 }),
      statements: fc.array(text, { maxLength: 60 }),
      context: fc.integer({ min: 2_048, max: 20_000 }),
    });
    fc.assert(
      fc.property(shape, ({ claims, statements, context }) => {
        const request = {
          ...claimsOf(claims),
          statements: statements.map((one, statement) => ({ statement, text: one })),
        };
        const cut = fitted(request, context);
        if (!cut.ok) {
          expect(cut.entries_cut?.judged).toEqual([]);
          return;
        }
        if (cut.request.kind !== 'citations') throw new Error(cut.request.kind);
        expect(tokensOf(cut.request)).toBeLessThanOrEqual(context);
        expect(fitted(cut.request, context)).toMatchObject({ ok: true, request: cut.request });
        if (cut.entries_cut === undefined) expect(cut.request.claims).toEqual(request.claims);
      }),
      { numRuns: 200 },
    );
  });
});

const IDENTITY = { model: 'm', template: 't', sampling: null };

function outcomeOf(verdicts: Verdicts, judged?: readonly number[]): JudgmentOutcome {
  const preimage = { v: 1, kind: verdicts.kind, judge: IDENTITY, parser: '', replicate: 0, inputs: {} } as const;
  const judgment = { v: 2, key: '', preimage, verdicts, usage: null, judged_at: '', issuer: null } as const;
  return { ok: true, judgment, cached: false, latency_ms: 0, ...(judged === undefined ? {} : { judged }) };
}

describe('verdicts on a part of the entries', () => {
  const part: CitationsRequest = { ...CITATIONS, claims: CITATIONS.claims.slice(1), statements: [] };

  it('are completed against the policy', () => {
    const verdicts = verdictsOf(CITATIONS, outcomeOf(judgeLexically(part), [1]));
    expect(verdicts).toMatchObject({
      status: 'scored',
      observed: {
        claims: [
          { claim: 0, support: 0, relevant: [false], quote: 'absent' },
          { claim: 3, support: 1 },
        ],
        statements: [{ statement: 2, needs_citation: true }],
      },
    });
    const statements = { ...CITATIONS, kind: 'statements', statements: ['a', 'b', 'c'] } as const;
    const { claims: _claims, ...request } = statements;
    expect(verdictsOf(request, outcomeOf({ kind: 'statements', supported: [true] }, [1]))).toMatchObject({
      observed: { supported: [false, true, false] },
    });
  });

  it('are refused if they do not answer what the judge saw', () => {
    const invalid = { status: 'unscored', reason: 'judgment_record_invalid' };
    expect(verdictsOf(CITATIONS, outcomeOf(judgeLexically(part)))).toEqual(invalid);
    expect(verdictsOf(CITATIONS, outcomeOf(judgeLexically(part), [0]))).toEqual(invalid);
    expect(verdictsOf(CITATIONS, outcomeOf(judgeLexically(CITATIONS), [1]))).toEqual(invalid);
  });
});

function judgeOf(context_tokens: number, asked: JudgmentRequest[], fails = false): Judge {
  return {
    name: 'judge',
    model: 'judge',
    identityFor: () => IDENTITY,
    context_tokens,
    async judge(request) {
      asked.push(request);
      if (fails) return { ok: false, failure: { reason: 'judge_timeout', detail: '', retryable: true } };
      if (request.kind === 'entities') {
        const entities = request.labels.map((label) => ({ label, span: { start: 0, end: request.answer.length } }));
        return { ok: true, verdicts: { kind: 'entities', entities }, usage: null };
      }
      return { ok: true, verdicts: judgeLexically(request), usage: null };
    },
  };
}

async function scoredBy(judge: Judge, rollout: Rollout, recipe: string, mode: 'use' | 'skip' = 'use') {
  const result = await scoreRollout(
    { rollout, recipe: await resolved(recipe) },
    {
      judge: { ok: true, judge },
      store: createMemoryJudgmentStore(),
      mode,
      replicate: 0,
      deadline_ms: 1_000,
      now: () => '2026-01-01T00:00:00.000Z',
      elapsed: () => 0,
    },
  );
  if (result.status !== 'done') throw new Error(JSON.stringify(result));
  scoreResponseSchema.parse(result.reply);
  return result;
}

const cutOf = ({ reply }: ScoredRollout) => reply.judgments.find(({ kind }) => kind !== 'rubric')?.entries_cut;

const REFINER = {
  question: 'How long is the Aare?',
  positive_rubrics: [{ description: 'States the length' }],
  tool_output: '<snippet id=S1>The Aare is 288 km long. It rises in the Alps.</snippet>',
};
const claim = (text: string): string => `<snippet id=S1>${text}</snippet>`;
const answered = (...claims: readonly string[]): Rollout => ({
  ...REFINER,
  response: `<answer>${claims.map(claim).join(' ')}</answer>`,
});
const GIGANTIC = `The famous river Aare near Bern is ${'7'.repeat(30_000)} km long.`;
const distinct = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `The Aare, of which ${n} are known, is 288 km long.`);

describe('a policy that writes more than the judge can read', () => {
  it.each([
    ['endless claims', answered(...distinct(300))],
    ['one gigantic claim', answered(GIGANTIC)],
    [
      'gigantic claims beside an honest one',
      answered(GIGANTIC, 'The Aare, it is said, is 288 km long.', `${GIGANTIC}7`),
    ],
    [
      'an endless uncited statement',
      { ...REFINER, response: `<answer>${claim('The Aare is 288 km long')} ${GIGANTIC}</answer>` },
    ],
  ])('is scored: %s', async (_what, rollout) => {
    const asked: JudgmentRequest[] = [];
    const scored = await scoredBy(judgeOf(8_000, asked), rollout, 'refiner-rl-balanced');
    const honest = await scoredBy(
      judgeOf(8_000, []),
      answered('The Aare, it is said, is 288 km long.'),
      'refiner-rl-balanced',
    );
    expect(scored.reply.reward).not.toBeNull();
    expect(scored.reply.components).toMatchObject({ citation: { status: 'scored' } });
    expect(scored.reply.reward ?? 0).toBeLessThan(honest.reply.reward ?? 0);
    const { judged = 0, entries = 0 } = cutOf(scored) ?? {};
    expect(judged).toBeLessThan(entries);
    expect(asked.filter(({ kind }) => kind === 'citations')).toHaveLength(judged === 0 ? 0 : 1);
    expect(cutOf(honest)).toBeUndefined();
  });

  it('is unscored only if the judge fails, or was not to be asked', async () => {
    const lost = await scoredBy(judgeOf(8_000, [], true), answered(...distinct(300)), 'refiner-rl-balanced');
    expect(lost.reply).toMatchObject({ reward: null, reason: 'judge_timeout' });
    const skipped = await scoredBy(judgeOf(8_000, []), answered(GIGANTIC), 'refiner-rl-balanced', 'skip');
    expect(skipped.reply).toMatchObject({ reward: null, reason: 'judgment_skipped' });
  });

  it('earns 0 for more claims than are compared, and is not refused', async () => {
    const asked: JudgmentRequest[] = [];
    const scored = await scoredBy(judgeOf(8_000, asked), answered(...distinct(MAX_CLAIMS + 1)), 'refiner-rl-balanced');
    expect(scored.reply).toMatchObject({ reward: 0, status: 'scored', decided_by: 'no_answer', claims: [] });
    expect(scored.reply).toMatchObject({ finding_counts: { answer_oversized: 1 } });
    const response = `<answer>${'<cite id="S1">It is long.</cite>'.repeat(MAX_CLAIMS + MAX_STATEMENTS + 1)}</answer>`;
    const { positive_rubrics: _criteria, ...row } = REFINER;
    const rollout = { ...row, rubrics: [{ description: 'States the length', weight: 1 }], response };
    const { reply } = await scoredBy(judgeOf(8_000, asked), rollout, 'dr-tulu');
    expect(reply).toMatchObject({ status: 'scored', decided_by: 'no_answer' });
    expect(asked).toEqual([]);
  });

  it('is scored under dr-tulu', async () => {
    const response = `<answer>${distinct(300)
      .map((text) => `<cite id="S1">${text}</cite>`)
      .join(' ')}</answer>`;
    const { positive_rubrics: _criteria, ...row } = REFINER;
    const rollout = { ...row, rubrics: [{ description: 'States the length', weight: 1 }], response };
    const scored = await scoredBy(judgeOf(8_000, []), rollout, 'dr-tulu');
    expect(scored.reply.reward).not.toBeNull();
    expect(cutOf(scored)?.judged).toBeLessThan(300);
  });
});

describe('carr', () => {
  const row = (criterion: string, response: string): Rollout => ({
    question: 'Which river flows through Bern?',
    reference: 'the Aare',
    sources: [{ id: 'https://a.example', text: 'The Aare joins the Rhine.' }],
    entity_rubrics: [criterion, '<E0> is a river.'],
    response: `${response} [1](https://a.example)`,
    finish_reason: 'stop',
  });

  it('does not support statements whose names are gigantic, but fails where the row is', async () => {
    const named = await scoredBy(judgeOf(8_000, []), row('<E0> joins the Rhine.', '7'.repeat(5_500)), 'carr');
    expect(named.facts).toMatchObject({ supported: { status: 'scored', observed: [false, false] } });
    expect(cutOf({ ...named, reply: { ...named.reply, judgments: named.reply.judgments.slice(2) } })).toEqual({
      judged: 1,
      entries: 2,
    });
    const long = await scoredBy(judgeOf(8_000, []), row(`<E0> joins ${'the Rhine '.repeat(1_950)}.`, 'Aare'), 'carr');
    expect(long.facts).toMatchObject({ supported: { status: 'unscored', reason: 'judge_prompt_too_long' } });
  });
});
