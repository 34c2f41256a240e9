/**
 * Runs inside a copy with the `tone` kind, as test/unit/judgments/tone.scenario.ts: judges a request through a scripted
 * chat backend, stores the judgment, and reads it back from the store and from a record file. Prints one JSON object.
 */
import type { ChatBackend } from '../../../src/judgments/chat-backend.ts';
import type { JudgmentRequest } from '../../../src/judgments/kinds/registry.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { createModelJudge } from '../../../src/judgments/model-judge.ts';
import { type JudgmentMode, obtainJudgments } from '../../../src/judgments/obtain.ts';
import { readRecordLine, writeRecordLine } from '../../../src/judgments/record-file.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { keyOfEachKind } from './kind-keys.ts';

const request: JudgmentRequest = {
  kind: 'tone',
  question: 'How long is the Aare?',
  answer: 'It is 288 km long, dear.',
};

let calls = 0;
const backend: ChatBackend = {
  name: 'scripted',
  model: 'm',
  context_tokens: 8_192,
  async complete({ schema }) {
    calls++;
    const text = calls === 1 ? 'no JSON' : JSON.stringify({ reason: schema?.name ?? '', polite: true });
    return { ok: true, completion: { text, model: 'm', usage: null } };
  },
};

const store = createMemoryJudgmentStore();
async function obtain(mode: JudgmentMode) {
  const { judgments } = await obtainJudgments([{ request, cited: new Set() }], {
    judge: { ok: true, judge: createModelJudge(backend, () => 0) },
    store,
    mode,
    replicate: 0,
    deadline_ms: 1_000,
    now: () => '2026-01-01T00:00:00.000Z',
    elapsed: () => 0,
  });
  const [obtained] = judgments;
  if (obtained?.outcome.ok !== true) throw new Error(JSON.stringify(obtained));
  return obtained.outcome;
}

const { judgment } = await obtain('use');
const { cached } = await obtain('only');
const line = readRecordLine(writeRecordLine({ kind: 'judgment', judgment }));
console.log(
  JSON.stringify({
    judgment,
    calls,
    cached,
    line,
    lexical: await LEXICAL_JUDGE.judge(request, { deadline_ms: 1 }),
    keys: await keyOfEachKind(),
  }),
);
