/** A cascade of scripted judges: which tier decides what, what is stored, and what a change of bands asks again. */
import { describe, expect, test } from 'vitest';
import { digestJson } from '../../../src/digest.ts';
import { createCascade, lexicalTier } from '../../../src/judgments/cascade.ts';
import {
  type ClassifiedPair,
  type Classifier,
  createClassifierJudge,
} from '../../../src/judgments/classifier/classifier-judge.ts';
import type { Judge } from '../../../src/judgments/judge.ts';
import type { JudgmentRequest } from '../../../src/judgments/kinds/registry.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { type ObtainOptions, obtainJudgments } from '../../../src/judgments/obtain.ts';
import type { JudgeFailure } from '../../../src/judgments/protocol/failure.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { cascadeFigures } from '../../../src/labels/cascade-figures.ts';
import { LEXICAL_JUDGE_MODEL } from '../../../src/lexical/index.ts';

const DOWN: JudgeFailure = { reason: 'judge_unreachable', detail: 'the classifier cannot be reached', retryable: true };

/**
 * A classifier that gives each claim the probability that its text ends with: `claim 0.7`. With `denies` it has three
 * labels, and contradicts what says `denied`.
 */
function nli(asked: string[] = [], failure: JudgeFailure | null = null, denies = false): Judge {
  const classifier: Classifier = {
    name: 'nli',
    model: 'tiny/nli',
    asking: 'score',
    names_contradiction: denies,
    async classify(pairs: readonly ClassifiedPair[]) {
      asked.push(...pairs.map(({ claim }) => claim));
      if (failure !== null) return { ok: false, failure };
      const supported = pairs.map(({ claim }) => Number(claim.split(' ').at(-1)));
      const contradicted = pairs.map(({ claim }) => (denies && claim.startsWith('denied') ? 0.9 : 0));
      return { ok: true, supported, contradicted, usage: null };
    },
  };
  return createClassifierJudge(classifier, { window_tokens: 512, threshold: 0.5 });
}

/** A language model that finds full support in every claim that says `true`, and counts what it is asked. */
function model(asked: string[] = []): Judge {
  return {
    name: 'qwen',
    model: 'qwen3',
    identityFor: (kind) => ({ model: 'qwen3', template: `scripted ${kind}`, sampling: { temperature: 0 } }),
    context_tokens: null,
    async judge(request) {
      if (request.kind !== 'citations') return LEXICAL_JUDGE.judge(request, { deadline_ms: 1 });
      asked.push(...request.claims.map(({ text }) => text), ...request.statements.map(({ text }) => text));
      const claims = request.claims.map(({ claim, text, sources }) => {
        const support = text.startsWith('true') ? (1 as const) : (0 as const);
        return { claim, support, relevant: sources.map(() => support === 1), quote: 'absent' as const };
      });
      const statements = request.statements.map(({ statement }) => ({ statement, needs_citation: true }));
      return { ok: true, verdicts: { kind: 'citations', claims, statements }, usage: null };
    },
  };
}

function citations(claims: readonly string[], statements: readonly string[] = []): JudgmentRequest {
  return {
    kind: 'citations',
    question: 'q',
    sources: [{ id: 'S1', text: 'A source.' }],
    claims: claims.map((text, claim) => ({ claim, text, sources: [0] })),
    statements: statements.map((text, statement) => ({ statement, text })),
  };
}

const CLAIMS = ['true 0.9', 'false 0.1', 'true 0.6', 'false 0.4'];

function obtain(judge: Judge, request: JudgmentRequest, options: Partial<ObtainOptions> = {}) {
  return obtainJudgments([{ request, cited: new Set([0]), answer: 'the answer' }], {
    judge: { ok: true, judge },
    store: createMemoryJudgmentStore(),
    mode: 'use',
    replicate: 0,
    deadline_ms: 1_000,
    now: () => '2026-11-27T00:00:00.000Z',
    elapsed: () => 0,
    ...options,
  }).then(({ judgments: [one] }) => {
    if (one === undefined) throw new Error('no judgment');
    return one;
  });
}

describe('which tier decides', () => {
  test('the classifier what is outside its band, the model the rest; each claim says which', async () => {
    const [ofNli, ofModel]: [string[], string[]] = [[], []];
    const cascade = createCascade('cheap', [{ judge: nli(ofNli), band: [0.2, 0.8] }], model(ofModel));
    const { outcome } = await obtain(cascade, citations(CLAIMS, ['The Aare is 288 km long.']));
    expect(outcome).toMatchObject({
      ok: true,
      judgment: {
        verdicts: {
          claims: [
            { claim: 0, support: 1, tier: 0, score: 0.9 },
            { claim: 1, support: 0, tier: 0, score: 0.1 },
            { claim: 2, support: 1, tier: 1 },
            { claim: 3, support: 0, tier: 1 },
          ],
          statements: [{ statement: 0, needs_citation: true }],
        },
      },
    });
    expect([ofNli, ofModel]).toEqual([CLAIMS, ['true 0.6', 'false 0.4']]);
  });

  test('the ends of a band: its low end is unsure, its high end is sure', async () => {
    const asked: string[] = [];
    const cascade = createCascade('cheap', [{ judge: nli(), band: [0.2, 0.8] }], model(asked));
    await obtain(cascade, citations(['a 0.2', 'b 0.19', 'c 0.8', 'd 0.79']));
    expect(asked).toEqual(['a 0.2', 'd 0.79']);
  });

  test('no call of the model where the classifier is sure of all claims', async () => {
    const asked: string[] = [];
    const cascade = createCascade('cheap', [{ judge: nli(), band: [0.5, 0.5] }], model(asked));
    await obtain(cascade, citations(CLAIMS, ['The Aare is 288 km long.']));
    expect(asked).toEqual([]);
  });

  test('words first: what equals a source needs neither classifier nor model', async () => {
    const asked: string[] = [];
    const cascade = createCascade('three', [lexicalTier([0, 0.9]), { judge: nli(asked), band: [0.2, 0.8] }], model());
    const text = 'The river Aare in Switzerland is 288 kilometres long.';
    const request = { ...citations([text, 'true 0.9']), sources: [{ id: 'S1', text: `${text} It joins the Rhine.` }] };
    const { outcome } = await obtain(cascade, request);
    expect(outcome).toMatchObject({
      judgment: {
        verdicts: {
          claims: [
            { support: 1, tier: 0 },
            { support: 1, tier: 1 },
          ],
        },
      },
    });
    expect(asked).toEqual(['true 0.9']);
  });

  test('a claim that is too long for the classifier is the business of the model', async () => {
    const long = `true ${'on and on '.repeat(200)}`;
    const asked: string[] = [];
    const cascade = createCascade('cheap', [{ judge: nli(), band: [0.2, 0.8] }], model(asked));
    const { outcome } = await obtain(cascade, citations([long, 'true 0.9']));
    expect(outcome).toMatchObject({
      judgment: {
        verdicts: {
          claims: [
            { support: 1, tier: 1 },
            { support: 1, tier: 0 },
          ],
        },
      },
    });
    expect((await obtain(cascade, citations([long]))).outcome).toMatchObject({ ok: true });
    expect(asked).toEqual([long, long]);
  });

  test('a rubric goes to the last judge, under the key that it has there', async () => {
    const request: JudgmentRequest = {
      kind: 'rubric',
      question: 'q',
      sources: [],
      criteria: [{ title: 't', description: 'd' }],
      answer: 'a',
    };
    const cascade = createCascade('cheap', [{ judge: nli(), band: [0.2, 0.8] }], model());
    const [one, alone] = await Promise.all([obtain(cascade, request), obtain(model(), request)]);
    expect(one.key).toBe(alone.key);
    expect(one.preimage?.judge.model).toBe('qwen3');
  });
});

describe('asked for contradictions', () => {
  const texts = ['true 0.9', 'denied 0.1', 'false 0.1', 'denied 0.6'];
  const asked = { ...citations(texts), asking: { contradiction: true } } as const;
  /** The model denies what says so, if it is asked for it. */
  const last = (ofModel: string[]): Judge => {
    const plain = model(ofModel);
    return {
      ...plain,
      identityFor: (kind, asking) => ({ ...plain.identityFor(kind), template: `${kind} ${JSON.stringify(asking)}` }),
      unsupported: () => [],
      async judge(request, options) {
        const reply = await plain.judge(request, options);
        if (!reply.ok || reply.verdicts.kind !== 'citations' || request.kind !== 'citations') return reply;
        const isAsked = request.asking?.contradiction === true;
        const claims = reply.verdicts.claims.map((one, n) =>
          isAsked && request.claims[n]?.text.startsWith('denied') === true
            ? { ...one, contradicted: true as const }
            : one,
        );
        return { ...reply, verdicts: { ...reply.verdicts, claims } };
      },
    };
  };
  const judged = async (tiers: Parameters<typeof createCascade>[1], ofModel: string[], request = asked) => {
    const { outcome } = await obtain(createCascade('cheap', tiers, last(ofModel)), request);
    if (!outcome.ok || outcome.judgment.verdicts.kind !== 'citations') throw new Error('no verdicts');
    return outcome.judgment.verdicts.claims.map(({ support, tier, contradicted }) => [support, tier, contradicted]);
  };
  const [yes, no] = [true as const, undefined];

  test('a classifier of three labels decides both kinds of unsupported claims', async () => {
    const ofModel: string[] = [];
    const tiers = [{ judge: nli([], null, true), band: [0.2, 0.8] }] as const;
    const values = [
      [1, 0, no],
      [0, 0, yes],
      [0, 0, no],
      [0, 1, yes],
    ];
    expect([await judged(tiers, ofModel), ofModel]).toEqual([values, ['denied 0.6']]);
  });

  test('one that gives a single probability, and words, decide only what is supported', async () => {
    const ofModel: string[] = [];
    const tiers = [lexicalTier([0.5, 1]), { judge: nli(), band: [0.2, 0.8] }] as const;
    const values = [
      [1, 1, no],
      [0, 2, yes],
      [0, 2, no],
      [0, 2, yes],
    ];
    expect([await judged(tiers, ofModel), ofModel]).toEqual([values, texts.slice(1)]);
  });

  test('the last judge must be able to say it; the usual question keeps its key', () => {
    const tiers = [{ judge: nli([], null, true), band: [0.2, 0.8] }] as const;
    const refused = createCascade('cheap', tiers, model());
    expect(refused.unsupported?.({ contradiction: true })).toEqual(['contradiction']);
    expect(refused.unsupported?.({})).toEqual([]);
    const templateOf = (denies: boolean, asking: { contradiction?: true }) =>
      createCascade('cheap', [{ judge: nli([], null, denies), band: [0.2, 0.8] }], model()).identityFor(
        'citations',
        asking,
      ).template;
    expect(templateOf(true, {})).toBe(templateOf(false, {}));
    const classifier = `citeward-classifier-2 score window_tokens=512 threshold=0.5 uncited=${LEXICAL_JUDGE_MODEL}`;
    const tier = { model: 'tiny/nli', template: classifier, sampling: null, band: [0.2, 0.8] };
    const usual = digestJson([tier, model().identityFor('citations')]);
    expect(templateOf(true, {})).toBe(`citeward-cascade-1 ${usual}`);
    expect(templateOf(true, { contradiction: true })).not.toBe(templateOf(true, {}));
  });
});

describe('failures', () => {
  test('a tier that fails is a failure, and no other tier decides in its place', async () => {
    const asked: string[] = [];
    const cascade = createCascade('cheap', [{ judge: nli([], DOWN), band: [0.2, 0.8] }], model(asked));
    expect((await obtain(cascade, citations(CLAIMS))).outcome).toEqual({ ok: false, failure: DOWN });
    expect(asked).toEqual([]);
  });

  test('so is a model that fails after the classifier', async () => {
    const broken: Judge = { ...model(), judge: async () => ({ ok: false, failure: DOWN }) };
    const cascade = createCascade('cheap', [{ judge: nli(), band: [0.2, 0.8] }], broken);
    expect((await obtain(cascade, citations(CLAIMS))).outcome).toEqual({ ok: false, failure: DOWN });
  });
});

describe('keys', () => {
  const band = (low: number, high: number, asked: { nli: string[]; model: string[] }) =>
    createCascade('cheap', [{ judge: nli(asked.nli), band: [low, high] }], model(asked.model));

  test('other bands are another judgment, which asks only what no tier was asked before', async () => {
    const store = createMemoryJudgmentStore();
    const asked = { nli: [], model: [] };
    const narrow = await obtain(band(0.45, 0.55, asked), citations(CLAIMS), { store });
    const wide = await obtain(band(0.2, 0.8, asked), citations(CLAIMS), { store });
    expect(wide.key).not.toBe(narrow.key);
    expect(wide.preimage?.judge.model).toBe('tiny/nli [0.2, 0.8] > qwen3');
    // The classifier was asked once; the model about what the wider band leaves.
    expect(asked).toEqual({ nli: CLAIMS, model: ['true 0.6', 'false 0.4'] });
  });

  test('a judgment is read from the store again, without a judge', async () => {
    const store = createMemoryJudgmentStore();
    const first = await obtain(band(0.2, 0.8, { nli: [], model: [] }), citations(CLAIMS), { store });
    const asked = { nli: [], model: [] };
    const again = await obtain(band(0.2, 0.8, asked), citations(CLAIMS), { store, mode: 'only' });
    expect(again.outcome).toMatchObject({ ok: true, cached: true });
    expect([again.key, asked]).toEqual([first.key, { nli: [], model: [] }]);
  });

  test('the judgment of the classifier has the key that it has alone', async () => {
    const store = createMemoryJudgmentStore();
    await obtain(band(0.2, 0.8, { nli: [], model: [] }), citations(CLAIMS), { store });
    const asked: string[] = [];
    expect((await obtain(nli(asked), citations(CLAIMS), { store })).outcome).toMatchObject({ cached: true });
    expect(asked).toEqual([]);
  });
});

test('calls saved and the error of each tier, on scripted judges whose errors are known', () => {
  const row = (tier: number, level: number, verdict: number | null) => ({
    ...({ kind: 'claim', set: 's', edits: [], pair: null, adversarial: false, cluster: 0 } as const),
    ...{ tier, level, verdict },
  });
  // Tier 0: 4 decided, 1 wrong. Tier 1: 5 decided, 2 wrong: one of two not supported passed, one of three missed.
  const rows = [
    ...[row(0, 2, 2), row(0, 0, 0), row(0, 1, 0), row(0, 0, 2)],
    ...[row(1, 0, 2), row(1, 0, 0), row(1, 2, 0), row(1, 2, 2), row(1, 2, 2)],
    ...[row(2, 2, 2), row(2, 2, null)],
  ];
  expect(cascadeFigures(rows, ['lexical', 'nli', 'qwen'])).toEqual({
    tiers: [
      { judge: 'lexical', decided: 4, error: 1 / 4, passes_no: 1 / 3, misses_yes: 0 },
      { judge: 'nli', decided: 5, error: 2 / 5, passes_no: 1 / 2, misses_yes: 1 / 3 },
      { judge: 'qwen', decided: 1, error: 0, passes_no: null, misses_yes: 0 },
    ],
    saved: 9,
    claims: 10,
  });
});
