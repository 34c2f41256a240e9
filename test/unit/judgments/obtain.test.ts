/** Obtaining judgments: the cuts for a small context and their report, and how the desk decides about a store miss. */
import { describe, expect, it } from 'vitest';
import type { Desk, DeskJudgment, JudgmentCall } from '../../../src/judgments/desk.ts';
import { createKnownIssuers } from '../../../src/judgments/issuer.ts';
import { readIssuer } from '../../../src/judgments/issuer-keys.ts';
import type { Judge } from '../../../src/judgments/judge.ts';
import type { Judgment } from '../../../src/judgments/judgment.ts';
import type { JudgmentRequest } from '../../../src/judgments/kinds/registry.ts';
import type { RubricRequest } from '../../../src/judgments/kinds/rubric/rubric.ts';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import { makeJudgment } from '../../../src/judgments/make-judgment.ts';
import { type ObtainOptions, obtainJudgments, type WantedJudgment } from '../../../src/judgments/obtain.ts';
import type { JudgedSource } from '../../../src/judgments/protocol/prompt.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';

const SENTENCE = 'The river Aare is 288 kilometres long. ';

/** The prompt that a judge of cited answers received. */
function sourcesOf(request: JudgmentRequest | undefined): readonly JudgedSource[] {
  return request !== undefined && 'sources' in request ? request.sources : [];
}

const REQUEST: RubricRequest = {
  kind: 'rubric',
  question: 'How long is the Aare?',
  sources: [
    { id: 'S1', text: SENTENCE.repeat(100) },
    { id: 'S2', text: SENTENCE.repeat(100) },
    { id: 'S3', text: SENTENCE.repeat(100) },
  ],
  criteria: [{ description: 'States that the Aare is 288 km long' }],
  answer: 'It is 288 km long.',
};

const WANTED: WantedJudgment = { request: REQUEST, cited: new Set([1]) };

function judgeOf(context_tokens: number | null): { judge: Judge; seen: JudgmentRequest[] } {
  const seen: JudgmentRequest[] = [];
  const judge: Judge = {
    name: 'small',
    model: 'small-1',
    identityFor: () => ({ model: 'small-1', template: 't1', sampling: null }),
    context_tokens,
    async judge(request) {
      seen.push(request);
      return { ok: true, verdicts: judgeLexically(request), usage: null };
    },
  };
  return { judge, seen };
}

function optionsOf(judge: Judge, changes: Partial<ObtainOptions> = {}): ObtainOptions {
  return {
    judge: { ok: true, judge },
    store: createMemoryJudgmentStore(),
    mode: 'use',
    replicate: 0,
    deadline_ms: 1_000,
    now: () => '2026-11-21T12:00:00.000Z',
    elapsed: () => 0,
    ...changes,
  };
}

async function one(judge: Judge, changes: Partial<ObtainOptions> = {}) {
  const { judgments } = await obtainJudgments([WANTED], optionsOf(judge, changes));
  const [judgment] = judgments;
  if (judgment === undefined) throw new Error('nothing was obtained');
  return judgment;
}

describe('a judge of limited context', () => {
  it('sees everything where it fits, under the key of the whole request', async () => {
    const unlimited = await one(judgeOf(null).judge);
    const large = await one(judgeOf(100_000).judge);
    expect([unlimited.cuts, large.cuts]).toEqual([[], []]);
    expect(large.key).toBe(unlimited.key);
  });

  it('sees less of the uncited sources first; the cut is said, and part of the key', async () => {
    const { judge, seen } = judgeOf(5_000);
    const whole = await one(judgeOf(null).judge);
    const cut = await one(judge);
    expect(cut.outcome.ok).toBe(true);
    expect(cut.key).not.toBe(whole.key);
    expect(cut.cuts.map(({ source }) => source)).toEqual([2]);
    for (const { source, kept_chars, chars } of cut.cuts) {
      expect(chars).toBe(3_900);
      expect(kept_chars).toBeLessThan(chars);
      expect(sourcesOf(seen[0])[source]?.text).toBe(REQUEST.sources[source]?.text.slice(0, kept_chars));
    }
    expect(sourcesOf(seen[0])[1]).toEqual(REQUEST.sources[1]);
    expect((await one(judge, { mode: 'skip' })).cuts).toEqual(cut.cuts);
    expect((await one(judge, { mode: 'skip' })).key).toBe(cut.key);
  });

  it('is not asked where not even the answer fits', async () => {
    const { judge, seen } = judgeOf(900);
    for (const mode of ['use', 'only'] as const) {
      expect(await one(judge, { mode })).toMatchObject({
        key: null,
        preimage: null,
        cuts: [],
        outcome: { ok: false, failure: { reason: 'judge_prompt_too_long', retryable: false } },
      });
    }
    expect(seen).toEqual([]);
  });

  it('keeps the order of the requests where one of them does not fit', async () => {
    const { judge } = judgeOf(5_000);
    const { request } = WANTED;
    const long = { ...WANTED, request: { ...request, question: 'q'.repeat(30_000) } };
    const { judgments } = await obtainJudgments([long, WANTED, long], optionsOf(judge));
    expect(judgments.map(({ outcome }) => outcome.ok)).toEqual([false, true, false]);
  });
});

describe('with a desk', () => {
  /** A desk that has kept some judgments and makes the others. */
  function deskOf(judge: Judge, kept: Judgment[] = [], stored = true) {
    const calls: JudgmentCall[] = [];
    const desk: Desk = {
      async judge(call): Promise<DeskJudgment> {
        calls.push(call);
        const made = await makeJudgment(judge, call, null, () => '2026-11-21T12:00:00.000Z');
        return made.ok ? { ...made, cached: false, stored, storeProblem: null } : made;
      },
      async find(keys) {
        const found = kept.filter(({ key }) => keys.includes(key));
        return new Map(found.map((judgment) => [judgment.key, { ok: true, judgment }]));
      },
    };
    return { desk: { desk, class: 'batch' as const, takes: () => true }, calls };
  }

  it('never calls the judge itself, and passes on what the caller wants', async () => {
    const { judge } = judgeOf(5_000);
    const { desk, calls } = deskOf(judge);
    const { seen } = judgeOf(5_000);
    const obtained = await one(judge, { desk });
    expect(obtained).toMatchObject({ stored: true, outcome: { ok: true, cached: false } });
    expect(calls).toMatchObject([{ judge: 'small', class: 'batch', deadline_ms: 1_000, key: obtained.key }]);
    // The desk gets what the judge will see.
    expect(sourcesOf(calls[0]?.request)[2]?.text.length).toBe(obtained.cuts[0]?.kept_chars);
    expect(seen).toEqual([]);
  });

  it('remembers what the desk has stored, and only that', async () => {
    const { judge } = judgeOf(null);
    for (const stored of [true, false]) {
      const store = createMemoryJudgmentStore();
      const { desk, calls } = deskOf(judge, [], stored);
      await one(judge, { store, desk });
      await one(judge, { store, desk });
      expect(calls).toHaveLength(stored ? 1 : 2);
    }
  });

  it('believes a miss with "only" when the desk has not kept it either', async () => {
    const { judge } = judgeOf(null);
    const had = await one(judge);
    if (!had.outcome.ok) throw new Error('not judged');
    const empty = deskOf(judge);
    expect((await one(judge, { mode: 'only', desk: empty.desk })).outcome).toMatchObject({
      ok: false,
      failure: { reason: 'judgment_missing' },
    });
    const bridged = deskOf(judge, [had.outcome.judgment]);
    expect((await one(judge, { mode: 'only', desk: bridged.desk })).outcome).toMatchObject({ ok: true, cached: true });
    expect([...empty.calls, ...bridged.calls]).toEqual([]);
  });
});

describe('signing', () => {
  it('names the issuer of what it signed, and of nothing that it cannot check', async () => {
    const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
    const read = await readIssuer(JSON.stringify(await crypto.subtle.exportKey('jwk', pair.privateKey)));
    if (!read.ok) throw new Error(read.error);
    const { value: issuer } = read;
    const store = createMemoryJudgmentStore();
    const { judge } = judgeOf(null);
    const known = createKnownIssuers([issuer.key]);
    expect((await one(judge, { store, signing: { issuer, known } })).issuer).toBe(issuer.key.key_id);
    expect((await one(judge, { store, signing: { issuer: null, known } })).issuer).toBe(issuer.key.key_id);
    const strangers = createKnownIssuers([]);
    const seen = await one(judge, { store, signing: { issuer: null, known: strangers } });
    expect([seen.issuer, seen.outcome.ok]).toEqual([null, true]);
  });
});
