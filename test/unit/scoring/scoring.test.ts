import { describe, expect, it } from 'vitest';
import { createSourceReader, type SourceReader } from '../../../src/citations/recent-sources.ts';
import { type RecipeInput, resolveRecipe } from '../../../src/families/resolve.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import type { Judge, JudgeReply } from '../../../src/judgments/judge.ts';
import type { JudgmentRequest } from '../../../src/judgments/kinds/registry.ts';
import { judgeLexically, LEXICAL_IDENTITY } from '../../../src/judgments/lexical-judge.ts';
import type { ObtainOptions } from '../../../src/judgments/obtain.ts';
import type { JudgeFailure } from '../../../src/judgments/protocol/failure.ts';
import { createMemoryJudgmentStore, type JudgmentStore } from '../../../src/judgments/store.ts';
import { type ScoringResult, scoreRollout } from '../../../src/scoring/score-rollouts.ts';
import { scoreResponseSchema } from '../../../src/wire/score.ts';

const ROLLOUT: Rollout = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  response:
    '<answer><snippet id=S1>The river Aare is 288 km in length.</snippet> It is a popular place to swim in summer.</answer>',
  positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
  negative_rubrics: [],
};

const RECIPE = 'refiner-rl-balanced';

const DOWN: JudgeFailure = {
  reason: 'judgment_store_failed',
  detail: 'a failure',
  retryable: true,
  retry_after_s: 7,
};

function lexically(request: JudgmentRequest): JudgeReply {
  return { ok: true, verdicts: judgeLexically(request), usage: { prompt_tokens: 5, completion_tokens: 1 } };
}

/** A judge that answers as told and notes what it was asked. */
function judgeWith(answer: (request: JudgmentRequest) => JudgeReply | Promise<JudgeReply>) {
  const asked: { kind: string; deadline_ms: number }[] = [];
  const judge: Judge = {
    name: 'test',
    model: LEXICAL_IDENTITY.model,
    identityFor: () => LEXICAL_IDENTITY,
    context_tokens: null,
    async judge(request, { deadline_ms }) {
      asked.push({ kind: request.kind, deadline_ms });
      return answer(request);
    },
  };
  return { judge, asked };
}

async function run(
  judge: Judge,
  store: JudgmentStore,
  changes: {
    rollout?: Partial<Rollout>;
    recipe?: RecipeInput;
    options?: Partial<ObtainOptions>;
    readSources?: SourceReader;
  } = {},
): Promise<ScoringResult> {
  const recipe = await resolveRecipe(changes.recipe ?? RECIPE);
  if (!recipe.ok) throw new Error('the test has no recipe');
  let clock = 0;
  return scoreRollout(
    {
      rollout: { ...ROLLOUT, ...changes.rollout },
      recipe: recipe.value,
      ...(changes.readSources === undefined ? {} : { readSources: changes.readSources }),
    },
    {
      judge: { ok: true, judge },
      store,
      mode: 'use',
      replicate: 0,
      deadline_ms: 1_234,
      now: () => '2026-11-21T12:00:00.000Z',
      elapsed: () => clock++,
      ...changes.options,
    },
  );
}

function done(result: ScoringResult): Extract<ScoringResult, { status: 'done' }> {
  if (result.status !== 'done') throw new Error(`expected a reply, got ${JSON.stringify(result)}`);
  return result;
}

describe('scoreRollout', () => {
  it('replies alike with sources that an earlier rollout has read', async () => {
    const tool_output =
      '<snippet id=S1>The Aare is 288 kilometres long.</snippet><snippet id=S2>It joins the Rhine.</snippet>';
    const responses = [
      '<answer><snippet id=S2>It joins the Rhine.</snippet></answer>',
      '<answer><snippet id=S1,S2>The Aare is 290 km long.</snippet> Berne is its largest city by far.</answer>',
      '<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>',
    ];
    const replyTo = async (response: string, readSources?: SourceReader) => {
      const { judge } = judgeWith(lexically);
      const known = readSources === undefined ? {} : { readSources };
      const result = await run(judge, createMemoryJudgmentStore(), { rollout: { tool_output, response }, ...known });
      return done(result).reply;
    };
    const alone = await Promise.all(responses.map((response) => replyTo(response)));
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2, 0],
    ]) {
      const readSources = createSourceReader({ entries: 2, size: 1_000 });
      for (const n of order) expect(await replyTo(responses[n] ?? '', readSources)).toEqual(alone[n]);
    }
  });

  it('asks both questions with the deadline, stores the answers with the time given, and replays them', async () => {
    const store = createMemoryJudgmentStore();
    const { judge, asked } = judgeWith(lexically);
    const { reply, failure } = done(await run(judge, store));
    expect(failure).toBeNull();
    expect(scoreResponseSchema.parse(reply)).toEqual(reply);
    expect(asked).toEqual([
      { kind: 'rubric', deadline_ms: 1_234 },
      { kind: 'citations', deadline_ms: 1_234 },
    ]);
    expect(reply.judgments[0]).toMatchObject({ judged_at: '2026-11-21T12:00:00.000Z', usage: { prompt_tokens: 5 } });
    const replayed = done(await run(judge, store, { options: { mode: 'only' } })).reply;
    expect(asked).toHaveLength(2);
    expect(replayed.reward).toBe(reply.reward);
    expect(replayed.judgments.map(({ cached }) => cached)).toEqual([true, true]);
  });

  it('never turns a failed judgment into a number, keeps the other one, and asks only for what is open next time', async () => {
    const records = new Map<string, string>();
    const store = createMemoryJudgmentStore(records);
    for (const failing of ['rubric', 'citations'] as const) {
      records.clear();
      const down = judgeWith((request) =>
        request.kind === failing ? { ok: false, failure: DOWN } : lexically(request),
      );
      const { reply, failure } = done(await run(down.judge, store));
      expect(failure).toEqual(DOWN);
      expect(reply).toMatchObject({
        reward: null,
        base: null,
        status: 'unscored',
        reason: DOWN.reason,
        decided_by: null,
      });
      const entry = reply.judgments.find(({ kind }) => kind === failing);
      expect(entry).toMatchObject({ stored: false, usage: null, latency_ms: null, failure: { reason: DOWN.reason } });
      expect(records.size).toBe(1);
      const up = judgeWith(lexically);
      expect(done(await run(up.judge, store)).reply.reward).not.toBeNull();
      expect(up.asked.map(({ kind }) => kind)).toEqual([failing]);
    }
  });

  it('refuses verdicts that do not answer the request, and stores none of them', async () => {
    const spoil: readonly ((request: JudgmentRequest) => JudgeReply)[] = [
      () => ({ ok: true, verdicts: { kind: 'rubric', criteria: [] }, usage: null }),
      () => ({ ok: true, verdicts: { kind: 'citations', claims: [], statements: [] }, usage: null }),
      (request) => {
        const verdicts = judgeLexically(request);
        return {
          ok: true,
          verdicts:
            verdicts.kind === 'rubric'
              ? { ...verdicts, criteria: [...verdicts.criteria].reverse() }
              : verdicts.kind === 'citations'
                ? { ...verdicts, claims: verdicts.claims.map((claim) => ({ ...claim, relevant: [] })) }
                : verdicts,
          usage: null,
        };
      },
    ];
    for (const answer of spoil) {
      const records = new Map<string, string>();
      const { judge } = judgeWith(answer);
      const { reply, failure } = done(await run(judge, createMemoryJudgmentStore(records)));
      expect(reply.reward).toBeNull();
      expect(failure).toMatchObject({ reason: 'judgment_record_invalid', retryable: true });
      expect(records.size).toBe(0);
    }
  });

  it('asks nothing that cannot change the reward', async () => {
    const { judge, asked } = judgeWith(lexically);
    const store = createMemoryJudgmentStore();
    await run(judge, store, { recipe: { base: RECIPE, citation_weight: 0 } });
    expect(asked.map(({ kind }) => kind)).toEqual(['rubric']);
    await run(judge, store, { rollout: { response: 'no answer' } });
    const recipe = { base: RECIPE, non_stop_penalty: { enabled: true, value: -2 } };
    const penalised = done(await run(judge, store, { recipe, rollout: { finish_reason: 'length' } }));
    expect(penalised.reply).toMatchObject({ reward: -2, judgments: [] });
    expect(asked).toHaveLength(1);
  });

  it('lets a bug in a judge come out as one', async () => {
    const { judge } = judgeWith(() => {
      throw new TypeError('a bug');
    });
    await expect(run(judge, createMemoryJudgmentStore())).rejects.toThrow('a bug');
  });

  it('names what is wrong with the rollout before anything is asked', async () => {
    const { judge, asked } = judgeWith(lexically);
    const result = await run(judge, createMemoryJudgmentStore(), { rollout: { positive_rubrics: [] } });
    expect(result).toMatchObject({ status: 'invalid', problems: [{ path: ['positive_rubrics'] }] });
    expect(asked).toEqual([]);
  });
});
