/** The judge that is checked: the built-in lexical one, or a model behind an OpenAI-compatible server. */
import { lexicalBackend } from '../../functions/backends/judge-backends.ts';
import type { Judge } from '../../src/judgments/judge.ts';
import type { JudgeIdentity } from '../../src/judgments/types.ts';
import { CostMeter } from './cost.ts';
import { Lane } from './lane.ts';

export type CheckedJudge = {
  readonly identity: JudgeIdentity;
  /** Of prompt and reply together; `null` = takes any length. */
  readonly context_tokens: number | null;
  /** Rows in hand at a time, unless asked otherwise; each row has one call under way. */
  readonly concurrency: number;
  /** Lines for standard error before the first row. */
  readonly notices: readonly string[];
  /** A new lane. @param replicate 0 = the seeds that a deployment uses; n = the n-th other ones. */
  readonly lane: (replicate: number) => Lane;
};

/** Whether asking again could give another answer at all. */
export function isDeterministic({ identity }: CheckedJudge): boolean {
  return identity.sampling === null;
}

export const lexicalUnderCheck: CheckedJudge = {
  identity: lexicalBackend.judge.identityFor('rubric'),
  context_tokens: lexicalBackend.judge.context_tokens,
  concurrency: 1,
  notices: [
    'Judge: lexical, built in. It compares words and is no model; a model is checked with --url BASE_URL --model NAME.',
  ],
  lane() {
    const meter = new CostMeter();
    return new Lane(countedAnswers(lexicalBackend.judge, meter), meter, () => performance.now());
  },
};

/** A judge without a backend: an answer is a call. */
function countedAnswers(judge: Judge, meter: CostMeter): Judge {
  return {
    ...judge,
    async judge(request, options) {
      const reply = await judge.judge(request, options);
      meter.add(reply.ok ? reply.usage : null);
      return reply;
    },
  };
}
