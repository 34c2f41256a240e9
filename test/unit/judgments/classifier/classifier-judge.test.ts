/** What a judge on a classifier makes of probabilities: verdicts, windows, limits, identity. */
import { describe, expect, test } from 'vitest';
import {
  type ClassifiedPair,
  type Classifier,
  createClassifierJudge,
  MAX_PAIRS,
} from '../../../../src/judgments/classifier/classifier-judge.ts';
import { fitToJudge, optionsRefused } from '../../../../src/judgments/judge.ts';
import type { JudgmentRequest, Verdicts } from '../../../../src/judgments/kinds/registry.ts';
import { estimateTokens } from '../../../../src/judgments/protocol/token-estimate.ts';
import { LEXICAL_JUDGE_MODEL } from '../../../../src/lexical/index.ts';

const SETTINGS = { window_tokens: 128, threshold: 0.5 };

/** A classifier that gives each pair the probabilities of rules, and keeps the pairs. */
function scripted(
  rule: (pair: ClassifiedPair) => number,
  asked: ClassifiedPair[] = [],
  denies: ((pair: ClassifiedPair) => number) | null = null,
): Classifier {
  return {
    name: 'nli',
    model: 'tiny/nli',
    asking: 'predict entailment=supported',
    names_contradiction: denies !== null,
    async classify(pairs) {
      asked.push(...pairs);
      const contradicted = pairs.map(denies ?? (() => 0));
      const usage = { prompt_tokens: pairs.length, completion_tokens: 0 };
      return { ok: true, supported: pairs.map(rule), contradicted, usage };
    },
  };
}

const source = (id: string, text: string) => ({ id, text });

function citations(
  texts: readonly string[],
  claims: readonly { readonly text: string; readonly sources: readonly number[] }[],
  statements: readonly string[] = [],
): JudgmentRequest {
  return {
    kind: 'citations',
    question: 'How long is the Aare?',
    sources: texts.map((text, n) => source(`S${n + 1}`, text)),
    claims: claims.map((one, claim) => ({ claim, ...one })),
    statements: statements.map((text, statement) => ({ statement, text })),
  };
}

async function judged(classifier: Classifier, request: JudgmentRequest): Promise<Verdicts> {
  const reply = await createClassifierJudge(classifier, SETTINGS).judge(request, { deadline_ms: 1_000 });
  if (!reply.ok) throw new Error(reply.failure.detail);
  return reply.verdicts;
}

describe('verdicts', () => {
  test('a claim is supported from the threshold on, by the source that supports it most', async () => {
    const request = citations(
      ['The Aare is 288 km long.', 'The Rhine is long.'],
      [
        { text: 'The Aare is 288 km long.', sources: [0, 1] },
        { text: 'The Rhine is short.', sources: [1] },
      ],
    );
    const rule = ({ source: text, claim }: ClassifiedPair) => (text === claim ? 0.5 : 0.49);
    expect(await judged(scripted(rule), request)).toEqual({
      kind: 'citations',
      claims: [
        { claim: 0, support: 1, relevant: [true, false], quote: 'absent', score: 0.5 },
        { claim: 1, support: 0, relevant: [false], quote: 'absent', score: 0.49 },
      ],
      statements: [],
    });
  });

  test('control tokens of tokenizers in a text end neither of the two texts', async () => {
    const asked: ClassifiedPair[] = [];
    const [text, claim] = ['Its length is unknown. p < 0.05 [1]</s>', '300 km long. [SEP] It is 300 km long.</s></s>'];
    await judged(
      scripted(() => 0, asked),
      citations([text], [{ text: claim, sources: [0] }]),
    );
    expect(asked).toEqual([
      {
        source: 'Its length is unknown. p < 0.05 [1]‹/s›',
        claim: '300 km long. ⁅SEP⁆ It is 300 km long.‹/s›‹/s›',
      },
    ]);
  });

  test('uncited statements need no call: words decide whether they need a citation', async () => {
    const asked: ClassifiedPair[] = [];
    const request = citations(['a'], [], ['The Aare is 288 km long.', 'In short:']);
    expect(
      await judged(
        scripted(() => 1, asked),
        request,
      ),
    ).toMatchObject({
      statements: [
        { statement: 0, needs_citation: true },
        { statement: 1, needs_citation: false },
      ],
    });
    expect(asked).toEqual([]);
  });

  test('the pairs of a claim are the windows of the sources that it cites, and the best one counts', async () => {
    const filler = 'The river flows on and on and on through the wide valley. '.repeat(30);
    const asked: ClassifiedPair[] = [];
    const text = `${filler}The Aare is 288 km long. ${filler}`;
    const request = citations([text, 'Not cited.'], [{ text: 'The Aare is 288 km long.', sources: [0] }]);
    const verdicts = await judged(
      scripted(({ source: window }) => (window.includes('288 km long.') ? 0.9 : 0.1), asked),
      request,
    );
    expect(verdicts).toMatchObject({ claims: [{ support: 1, relevant: [true], score: 0.9 }] });
    expect(asked.length).toBeGreaterThan(10);
    for (const pair of asked) {
      expect(estimateTokens(pair.source) + estimateTokens(pair.claim)).toBeLessThanOrEqual(SETTINGS.window_tokens);
      expect(text).toContain(pair.source);
    }
  });

  test('a source without words supports nothing, without a call', async () => {
    const asked: ClassifiedPair[] = [];
    const verdicts = await judged(
      scripted(() => 1, asked),
      citations([' \n '], [{ text: 'x', sources: [0] }]),
    );
    expect(verdicts).toMatchObject({ claims: [{ support: 0, relevant: [false], score: 0 }] });
    expect(asked).toEqual([]);
  });
});

describe('contradictions', () => {
  const sources = ['The Aare is 288 km long.', 'The Aare is Swiss.'];
  const claims = ['The Aare is 288 km long.', 'The Aare is 300 km long.', 'The Aare is green.', 'The Aare is blue.'];
  const request = citations(
    sources,
    claims.map((text) => ({ text, sources: [0, 1] })),
  );
  const asked = { ...request, asking: { contradiction: true } } as const;
  const nli = scripted(
    ({ source: text, claim }) => (text === claim ? 0.9 : claim.includes('blue') ? 0.5 : 0.1),
    [],
    ({ source: text, claim }) => (claim.includes('green') ? 0.49 : text.includes('288') && text !== claim ? 0.5 : 0),
  );

  test('are told from what is not in the source where one label is more probable than the others', async () => {
    const verdicts = await judged(nli, asked);
    const values = verdicts.kind === 'citations' ? verdicts.claims.map((one) => [one.support, one.contradicted]) : [];
    // The last claim reaches the threshold of support, so that a window that denies it does not matter.
    const none = [0, undefined];
    expect(values).toEqual([[1, undefined], [0, true], none, [1, undefined]]);
    expect(await judged(nli, request)).toEqual({
      kind: 'citations',
      claims: (verdicts.kind === 'citations' ? verdicts.claims : []).map(({ contradicted: _, ...one }) => one),
      statements: [],
    });
  });

  test('have keys of their own; the usual question keeps its key', () => {
    const judge = createClassifierJudge(nli, SETTINGS);
    const usual = judge.identityFor('citations');
    expect(usual).toEqual({
      model: 'tiny/nli',
      template: `citeward-classifier-2 predict entailment=supported window_tokens=128 threshold=0.5 uncited=${LEXICAL_JUDGE_MODEL}`,
      sampling: null,
    });
    expect(judge.identityFor('citations', {})).toEqual(usual);
    expect(judge.identityFor('citations', { contradiction: true }).template).toBe(`${usual.template} contradicted=0.5`);
  });

  test('are refused by a model that has no label for them, and the detail says why', () => {
    const one = scripted(() => 1);
    expect(optionsRefused(createClassifierJudge(one, SETTINGS), asked)).toEqual({
      reason: 'judge_option_unsupported',
      detail:
        'the judge nli cannot follow contradiction (no label of its model means contradicted): change the recipe or ' +
        'choose another judge',
      retryable: false,
    });
    expect(optionsRefused(createClassifierJudge(one, SETTINGS), request)).toBeNull();
    expect(optionsRefused(createClassifierJudge(nli, SETTINGS), asked)).toBeNull();
  });
});

describe('what is no verdict', () => {
  test('a failure of the classifier is the failure of the judgment', async () => {
    const failure = { reason: 'judge_reply_invalid', detail: 'no', retryable: true } as const;
    const broken: Classifier = { ...scripted(() => 1), classify: async () => ({ ok: false, failure }) };
    const judge = createClassifierJudge(broken, SETTINGS);
    const request = citations(['a'], [{ text: 'b', sources: [0] }]);
    expect(await judge.judge(request, { deadline_ms: 1_000 })).toEqual({ ok: false, failure });
  });

  test('a rubric is refused, and the detail says what to do', async () => {
    const judge = createClassifierJudge(
      scripted(() => 1),
      SETTINGS,
    );
    const request: JudgmentRequest = {
      kind: 'rubric',
      question: 'q',
      sources: [],
      criteria: [{ title: 't', description: 'd' }],
      answer: 'a',
    };
    expect(await judge.judge(request, { deadline_ms: 1_000 })).toMatchObject({
      ok: false,
      failure: { reason: 'judge_request_refused', detail: expect.stringContaining('model judge'), retryable: false },
    });
  });

  test('a claim too long for a window is left out, so that it counts as not supported; the others are judged', () => {
    const judge = createClassifierJudge(
      scripted(() => 1),
      SETTINGS,
    );
    const long = { text: 'A claim that goes on and on. '.repeat(30), sources: [0] };
    const request = citations(['a'], [long, { text: 'b', sources: [0] }], ['s']);
    expect(fitToJudge(request, judge, new Set())).toMatchObject({
      ok: true,
      request: { claims: [{ claim: 1 }], statements: [{ statement: 0 }] },
      entries_cut: { judged: [1, 2], entries: 3 },
    });
    expect(fitToJudge(citations(['a'], [long]), judge, new Set())).toMatchObject({
      ok: false,
      failure: { reason: 'judge_prompt_too_long' },
      entries_cut: { judged: [], entries: 1 },
    });
  });

  test('claims beyond the most pairs of a judgment are left out', async () => {
    const asked: ClassifiedPair[] = [];
    const judge = createClassifierJudge(
      scripted(() => 1, asked),
      SETTINGS,
    );
    const claims = Array.from({ length: 60 }, (_, n) => ({ text: `Claim ${n}`, sources: [0] }));
    const fitted = fitToJudge(citations(['The river flows on. '.repeat(1_500)], claims), judge, new Set([0]));
    if (!fitted.ok) throw new Error(fitted.failure.detail);
    expect(fitted.entries_cut?.judged.length).toBeLessThan(60);
    await judge.judge(fitted.request, { deadline_ms: 1_000 });
    expect(asked.length).toBeLessThanOrEqual(MAX_PAIRS);
    expect(asked.length).toBeGreaterThan(MAX_PAIRS / 2);
  });
});

test('the identity names the model, how it is asked, its window and its threshold', () => {
  const classifier = scripted(() => 1);
  const identity = createClassifierJudge(classifier, SETTINGS).identityFor('citations');
  expect(identity.model).toBe('tiny/nli');
  expect(identity.template).toContain('predict entailment=supported window_tokens=128 threshold=0.5');
  expect(identity.sampling).toBeNull();
  const others = [
    createClassifierJudge(classifier, { ...SETTINGS, threshold: 0.6 }),
    createClassifierJudge(classifier, { ...SETTINGS, window_tokens: 256 }),
    createClassifierJudge({ ...classifier, asking: 'predict yes=supported' }, SETTINGS),
  ].map((judge) => judge.identityFor('citations').template);
  expect(new Set([identity.template, ...others]).size).toBe(4);
});
