/**
 * A failure is never a number, for adapters: for random samples and a judge that fails for random samples and kinds of
 * questions, a request has a number only if no judgment that it needs failed, and each number is that of its sample.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Backends } from '../../service/backends/configured.ts';
import { lexicalBackend } from '../../service/backends/judge-backends.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import { problemSchema } from '../../src/wire/problem.ts';
import { EXTRA_REWARD_INFO, LABEL, requestOf, TRAINERS, type Trainer } from '../functions/adapters-trainers.ts';
import { send } from '../functions/api.ts';
import { replaceParts } from '../functions/worker.ts';

/** Fails for the kinds in `lost` of the samples with these questions. */
const judge = { lost: new Map<string, readonly string[]>(), failures: 0 };

const BACKEND: Backends['named'][number] = {
  ...lexicalBackend,
  judge: {
    ...LEXICAL_JUDGE,
    async judge(request, options) {
      const question = 'question' in request ? request.question : '';
      if (judge.lost.get(question)?.includes(request.kind) !== true) return LEXICAL_JUDGE.judge(request, options);
      judge.failures++;
      return { ok: false, failure: { reason: 'judge_unreachable', detail: 'scripted', retryable: true } };
    },
  },
};

replaceParts({
  backendsOf: () => ({ named: [BACKEND], default: BACKEND, sandbox: null, generators: { named: [], default: null } }),
  adapterRetryWindowMs: 0,
});

const sample = fc.record({
  text: fc.constantFrom(
    '<answer><snippet id=S1>The river Aare has a length of 288 km.</snippet></answer>',
    '<answer><snippet id=S1>It is 300 km long.</snippet> <snippet id=S9>It is deep.</snippet></answer>',
    '<answer>Nobody knows, but the Aare rises in Italy.</answer>',
    '<think>The Rhine near Koblenz.</think>The Aare, in Bern.',
    'No answer.',
  ),
  lost: fc.subarray(['rubric', 'citations', 'outcome'], { minLength: 0 }),
});
type Sample = { readonly text: string; readonly lost: readonly string[]; readonly question: string };

/** The request of a trainer for samples; all but OpenRLHF send one. */
function requestFor(trainer: Trainer, samples: readonly Sample[]): Request {
  const labels = samples.map(({ question }) => ({ ...LABEL, question }));
  const texts = samples.map(({ text }) => text);
  const [{ text, question }] = [samples[0] ?? { text: '', question: '' }];
  switch (trainer) {
    case 'slime':
      return requestOf(trainer, {}, { label: labels[0], response: text });
    case 'openrlhf':
      return requestOf(trainer, {}, { query: texts, prompts: texts.map(() => ''), labels });
    case 'nemo-gym': {
      const content = [{ type: 'output_text', text }];
      const response = { output: [{ type: 'message', role: 'assistant', content }] };
      return requestOf(trainer, {}, { response, citeward: labels[0] });
    }
    case 'longtracerl': {
      const extra_reward_info = { ...EXTRA_REWARD_INFO, question };
      return requestOf(trainer, {}, { extra_reward_info, history: [{ role: 'assistant', content: text }] });
    }
  }
}

/** The rewards of a reply with status 200. */
async function rewardsOf(reply: Response): Promise<readonly unknown[]> {
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const value: unknown = JSON.parse(text);
  if (typeof value === 'number') return [value];
  const { reward, rewards = [reward] }: { reward?: unknown; rewards?: unknown } = Object(value);
  if (!Array.isArray(rewards)) throw new Error(`no rewards: ${text}`);
  return rewards;
}

let runs = 0;

describe.each(TRAINERS)('%s', (trainer) => {
  it('has the number of each sample, or none at all', async () => {
    const most = trainer === 'openrlhf' ? 4 : 1;
    const seen = { failed: 0, scored: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(sample, { minLength: 1, maxLength: most }), async (drawn) => {
        runs++;
        const samples = drawn.map((one, n) => ({ ...one, question: `How long is the Aare? ${runs}.${n}` }));
        judge.lost = new Map(samples.map(({ question, lost }) => [question, lost]));
        judge.failures = 0;
        const reply = await send(requestFor(trainer, samples));
        const isFailed = judge.failures > 0;
        judge.lost.clear();
        const alone = await Promise.all(
          samples.map(async (one) => (await rewardsOf(await send(requestFor(trainer, [one]))))[0]),
        );
        for (const reward of alone) expect(reward).toBeTypeOf('number');
        if (isFailed) {
          seen.failed++;
          const problem = problemSchema.parse(JSON.parse(await reply.text()));
          expect(problem).toMatchObject({ status: 503, reason: 'judge_unreachable', retryable: true });
        } else {
          seen.scored++;
          expect(await rewardsOf(reply)).toEqual(alone);
        }
      }),
      { numRuns: 60 },
    );
    expect(seen.failed).toBeGreaterThan(5);
    expect(seen.scored).toBeGreaterThan(5);
  });
});
