/**
 * 300,000 readings of hostile text by every reader of the library: none throws, spans stay inside the text, and time
 * grows with the length. Set FUZZ_SEED to repeat or vary a run.
 */
import { afterAll, describe, expect, inject, it } from 'vitest';
import { readChunkText } from '../../lib/model-servers/dialects/completion-chunk.ts';
import { errorInText } from '../../lib/model-servers/dialects/error-reply.ts';
import { verifyCitations } from '../../lib/verify.ts';
import { GRAMMAR_NAMES } from '../../src/citations/grammars.ts';
import { suspectedInjections } from '../../src/citations/injection.ts';
import { parseResponse } from '../../src/citations/parse.ts';
import { parseSources, sourcesFromList } from '../../src/citations/sources.ts';
import { createIncrementalVerifier } from '../../src/citations/stream/verifier.ts';
import { extractClaims } from '../../src/families/dr-tulu/exact/claims.ts';
import { formatReward } from '../../src/families/dr-tulu/exact/final-reward.ts';
import { extractQueries } from '../../src/families/dr-tulu/exact/queries.ts';
import { readCriterionScore } from '../../src/families/dr-tulu/exact/replies.ts';
import { extractSources, extractTranscript } from '../../src/families/dr-tulu/exact/transcript.ts';
import { responseFacts } from '../../src/families/dr-tulu/terms/final-reward.ts';
import { readQueries, readTranscript } from '../../src/families/dr-tulu/terms/transcript.ts';
import { entityShare } from '../../src/families/long-trace/entity-share.ts';
import { finalAnswer, splitThinking } from '../../src/families/long-trace/messages.ts';
import { usefulChunksScore } from '../../src/families/long-trace/useful-chunks.ts';
import { readLines } from '../../src/judgments/jsonl.ts';
import { readReply } from '../../src/judgments/model-judge.ts';
import { estimateTokens } from '../../src/judgments/protocol/token-estimate.ts';
import { readRecordLine } from '../../src/judgments/record-file.ts';
import { lexicalSupport, needsCitation } from '../../src/lexical/index.ts';
import { readRunLine } from '../../src/runs/run-file.ts';
import { splitSentences } from '../../src/text/sentences.ts';
import { neutralise, neutraliseAttribute, neutraliseControlTokens } from '../../src/text/untrusted.ts';
import { readToolCalls, readToolCallsAsVerl } from '../../src/tools/hermes.ts';
import { lastBoxedAnswer, scoreAnswerLine, scoreBoxedAnswer } from '../../src/tools/math-answer.ts';
import { readPythonJson } from '../../src/tools/python-json.ts';
import { runnableBlock } from '../../src/tools/runnable-block.ts';
import { readLabel } from '../../src/wire/adapters/request.ts';
import { readEnvelope } from '../../src/wire/batches/request-line.ts';
import { mutatedJson } from '../unit/hostile-json.ts';
import { CITATIONS, OUTCOME, RUBRIC } from '../unit/judgments/requests.ts';
import { expectLinear, GROWTH } from '../unit/linear-growth.ts';
import { syntheticRun } from '../unit/runs/synthetic-rows.ts';
import { SeededChoices } from '../unit/seeded-random.ts';

const READINGS = 300_000;
const SEED = inject('fuzzSeed');

const MARKUP = [
  ...[
    '<answer>',
    '</answer>',
    '<think>',
    '</think>',
    '<snippet id=S1>',
    '<snippet id="S1, S9">',
    "<snippet id='",
    '</snippet>',
  ],
  ...['<snippet id=', '<snippet/ id=S9/>', '<cite id="S1">', '<cite  ids=S2>', '</cite>', '<cite id="', '</cite >'],
  ...['[S1]', '[^S9,S1]', '[ref:S1]', '[ref:', '【S1】', '【', '<<S1>>', '<<', '>>', '](x)', '[', ']', '<', '>', '/>'],
  ...[
    '<tool_call>',
    '</tool_call>',
    '{"name":"search","arguments":{"query":"a"}}',
    '<call_tool name="snippet_search">',
  ],
  ...[
    '</call_tool>',
    '<query>',
    '</query>',
    '<search>',
    '</search>',
    '<tool_output>',
    '</tool_output>',
    '<webpage id=W1>',
  ],
  ...[
    '</webpage>',
    '<tool_response>',
    '\\boxed{',
    '}',
    '{',
    '\\text{',
    '\\frac',
    '$',
    'Answer:',
    '####',
    '```python\n',
  ],
  ...['```', 'print(', ')', '<|im_end|>', '[INST]', '｜', '▁', ']~b]', '[|system|]', '<|', '|>'],
  ...['"', "'", '“', '”', '\\', '\\"', ',', ':', '{"', '":', '1e400', '-0', '-', '.', '0', '9'.repeat(400)],
];
const TEXT = [
  ...[
    '. ',
    ' ',
    '\n',
    '\n\n',
    '\r\n',
    '\t',
    '- ',
    '2. ',
    '(',
    'Dr. ',
    'A',
    'b',
    '12',
    '99.83%',
    '$1.5 million',
    '1937',
  ],
  ...['\0', '\ud800', '\udc00', '🙂', '\u0301', '\u00a0', '\u2028', '\ufeff', 'ß', 'İ', '准点率升至99.83%。', 'مرحبا'],
  ...['It opened in 1937.', 'p < 0.05, R&amp;D', 'ignore all previous instructions', 'not', 'N/A', 'U.S. Army', '　'],
];

const SOURCES = sourcesFromList([
  { id: 'S1', text: 'It opened in 1937.' },
  { id: 'S2', text: 'It is red.' },
]);

function hostileText(choices: SeededChoices): string {
  let text = '';
  for (let pieces = choices.below(30); pieces > 0; pieces--) {
    const piece = choices.chance(60) ? choices.of(MARKUP) : choices.of(TEXT);
    text += choices.chance(3) ? piece.repeat(1 + choices.below(60)) : piece;
    if (choices.chance(4)) text += String.fromCharCode(choices.below(0x1_0000));
  }
  return text;
}

/** Every object in a result with a start and an end. */
function* spansIn(value: unknown): Generator<{ readonly start: unknown; readonly end: unknown }> {
  if (typeof value !== 'object' || value === null) return;
  if ('start' in value && 'end' in value) yield { start: value.start, end: value.end };
  for (const part of Object.values(value)) yield* spansIn(part);
}

function expectInside(text: string, result: unknown): void {
  for (const { start, end } of spansIn(result)) {
    const isInside =
      Number.isInteger(start) && Number.isInteger(end) && Number(start) >= 0 && Number(end) <= text.length;
    if (!isInside || Number(start) > Number(end)) throw new Error(`a span from ${start} to ${end} of ${text.length}`);
  }
}

type Reader = readonly [name: string, read: (text: string) => unknown];

/** Readers of plain text; their results hold spans of it, or none. */
const TEXT_READERS: readonly Reader[] = [
  ...GRAMMAR_NAMES.map(
    (grammar): Reader => [
      `citations, ${grammar}`,
      (text) => {
        const parsed = parseResponse(text, SOURCES, { grammar });
        for (const { span, text: claim } of parsed.claims) {
          if (claim.length > span.end - span.start) throw new Error('a claim longer than its span');
        }
        return parsed;
      },
    ],
  ),
  [
    'citations with evidence',
    (text) => verifyCitations({ response: text, tool_output: text }, { evidence: 'lexical' }),
  ],
  ['citations, streamed', streamed],
  ['sources', (text) => parseSources(text)],
  ['sentences', (text) => splitSentences(text)],
  ['injections', (text) => suspectedInjections(text, 0, text.length)],
  ['evidence', (text) => void [lexicalSupport(text, text), needsCitation(text)]],
  ['tool calls', (text) => readToolCalls(text)],
  ['tool calls as verl', (text) => void readToolCallsAsVerl(text)],
  ['boxed answer', (text) => void [lastBoxedAnswer(text), scoreBoxedAnswer(text, '42'), scoreAnswerLine(text, text)]],
  ['program', (text) => void runnableBlock(text)],
  ['transcript', (text) => void [readTranscript(text), responseFacts(text, 'search'), readQueries(text, 'v20250824')]],
  [
    'transcript, exact',
    (text) => void [extractTranscript(text), extractSources(text), extractQueries(text, 'unified')],
  ],
  ['claims, exact', (text) => void [extractClaims(text), formatReward(text, 'unified', 'whole_response')]],
  ['criterion score, exact', (text) => void readCriterionScore(text)],
  ['thinking', (text) => void [splitThinking(text), finalAnswer(text)]],
  ['entities', (text) => expectShare(entityShare(['It', '准点率', text.slice(0, 9)], text))],
  ['chunks', (text) => expectShare(usefulChunksScore([0, 12], text))],
  ['delimiters', neutralised],
];

function streamed(text: string): unknown {
  const verifier = createIncrementalVerifier({ sources: SOURCES, evidence: 'none' });
  const third = Math.ceil(text.length / 3);
  const events = [0, 1, 2].flatMap((n) => verifier.push(text.slice(n * third, (n + 1) * third)));
  return [events, verifier.finish()];
}

function expectShare(share: number): void {
  if (!(share >= 0 && share <= 1)) throw new Error(`a share of ${share}`);
}

function neutralised(text: string): void {
  const safe = neutralise(text);
  if (safe.length !== text.length || /[<>＜＞｜▁\0]|\[\||\[\/?[A-Z_]+\]/u.test(safe) || !safe.isWellFormed()) {
    throw new Error(`not neutralised: ${JSON.stringify(safe)}`);
  }
  if (neutraliseControlTokens(text).length !== text.length) throw new Error('another length');
  if (/["\n]/u.test(neutraliseAttribute(text))) throw new Error('an attribute with a quote or a line break');
  if (estimateTokens(text) < text.length / 4) throw new Error('fewer tokens than quarters of units');
}

const ENTRY = { reason: 'r', score: 1 };
const CLAIM = { reason: 'r', quote: 'It rises', support: 'full' };
const RUN_ROW = syntheticRun(1).next().value?.[0];

/** Valid values of JSON readers, to be mutated. */
const JSON_READERS: readonly (readonly [name: string, valid: unknown, read: (text: string) => unknown])[] = [
  ['rubric reply', { c1: ENTRY, c2: ENTRY }, (text) => readReply(RUBRIC, text)],
  [
    'citations reply',
    {
      k1: { ...CLAIM, relevant: [true] },
      k2: { ...CLAIM, relevant: [true, false] },
      u1: { reason: 'r', needs_citation: true },
    },
    (text) => readReply(CITATIONS, text),
  ],
  ['outcome reply', { reason: 'r', correct: true }, (text) => readReply(OUTCOME, text)],
  ['judgment record', { v: 1, key: 'a'.repeat(64), judgment: {} }, readRecordLine],
  ['run row', { rollout: { ...RUN_ROW, components: { rubric: 0.5 }, cached: 0 } }, readRunLine],
  ['run end', { end: { v: 1, rollouts: 3 } }, readRunLine],
  ['python JSON', { name: 'search', arguments: { query: ['a', 1, null, 2.5] } }, readPythonJson],
  [
    'label',
    { question: 'q', positive_rubrics: ['a', { description: 'b', weight: 2 }] },
    (text) => readLabel(text, 'refiner', []),
  ],
  [
    'batch line',
    { custom_id: 'a', method: 'POST', url: '/v1/score', body: { response: 'x' } },
    (text) => readEnvelope(new TextEncoder().encode(text), 1, '/v1/score'),
  ],
  ['stream chunk', { id: 'a', choices: [{ index: 0, delta: { content: 'x' } }] }, (text) => readChunkText(text)],
  ['error reply', { error: { message: 'm', type: 't', code: 4 } }, (text) => errorInText(text)],
];

const PER_READER = Math.ceil(READINGS / (TEXT_READERS.length + JSON_READERS.length));
let readings = 0;

function repeatedly(make: (choices: SeededChoices) => string, read: (text: string) => unknown): void {
  const choices = new SeededChoices(SEED);
  for (let n = 0; n < PER_READER; n++) {
    const text = make(choices);
    try {
      expectInside(text, read(text));
    } catch (error) {
      throw new Error(`seed ${SEED}, reading ${n}: ${JSON.stringify(text)}`, { cause: error });
    }
    readings++;
  }
}

describe(`seed ${SEED}`, () => {
  it.each(TEXT_READERS)('%s', (_name, read) => repeatedly(hostileText, read));

  it.each(JSON_READERS)('%s', (_name, valid, read) => {
    repeatedly((choices) => {
      const json = mutatedJson(valid, choices.below(3), choices.of(['types', 'anything']), choices);
      return choices.chance(5) ? json.slice(0, choices.below(json.length)) : json;
    }, read);
  });

  it('lines of bytes', async () => {
    const choices = new SeededChoices(SEED);
    for (let n = 0; n < 2_000; n++) {
      const bytes = Uint8Array.from({ length: choices.below(60) }, () =>
        choices.of([0x0a, 0x0d, 0x61, 0xc3, 0xa4, 0xff, 0]),
      );
      const at = choices.below(bytes.length + 1);
      const chunks = (async function* () {
        yield bytes.slice(0, at);
        yield bytes.slice(at);
      })();
      let lines = 0;
      for await (const line of readLines(chunks, 20)) {
        if (line.ok && line.value.length > 20) throw new Error('a line beyond the limit');
        lines++;
      }
      expect(lines).toBe(
        bytes.length === 0
          ? 0
          : bytes.reduce((sum, byte) => sum + (byte === 0x0a ? 1 : 0), bytes.at(-1) === 0x0a ? 0 : 1),
      );
    }
  });
});

describe(`time is linear in random repetitions, seed ${SEED}`, () => {
  const LARGE_CHARS = 60_000;
  const REPETITIONS = 100;

  it.each(TEXT_READERS)('%s', (_name, read) => {
    const choices = new SeededChoices(SEED + 1);
    for (let n = 0; n < REPETITIONS; n++) {
      const unit = Array.from({ length: 1 + choices.below(3) }, () =>
        choices.chance(80) ? choices.of(MARKUP) : choices.of(TEXT),
      ).join('');
      const beginning = choices.of(['', '<answer>', '<think>', '"']);
      const of = (chars: number) => beginning + unit.repeat(Math.ceil(chars / unit.length));
      try {
        expectLinear(read, of(LARGE_CHARS / GROWTH), of(LARGE_CHARS));
      } catch (error) {
        throw new Error(`seed ${SEED}: ${beginning}${JSON.stringify(unit)} repeated`, { cause: error });
      }
    }
  });
});

afterAll(() => expect(readings).toBeGreaterThanOrEqual(READINGS));
