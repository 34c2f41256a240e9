/** The scoring pipeline for tests: a judge and a sandbox with scripted answers, and a store that keeps nothing. */

import { type RecipeInput, type ResolvedRecipe, resolveRecipe } from '../../../src/families/resolve.ts';
import type { PlanOptions } from '../../../src/family/family.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import type { Judge, JudgeChoice } from '../../../src/judgments/judge.ts';
import type { JudgmentRequest, Verdicts } from '../../../src/judgments/kinds/registry.ts';
import type { ObtainOptions } from '../../../src/judgments/obtain.ts';
import type { JudgeFailureReason } from '../../../src/judgments/protocol/failure.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { type ScoredRollout, scoreGroup, scoreRollout } from '../../../src/scoring/score-rollouts.ts';
import { type ScoreResponse, scoreResponseSchema } from '../../../src/wire/score.ts';

export type Answer = (request: JudgmentRequest) => Verdicts | JudgeFailureReason;

/** A judge or sandbox that answers as told; a reason in place of verdicts is a failure. */
export function judgeThat(name: string, answer: Answer): { choice: JudgeChoice; asked: JudgmentRequest[] } {
  const asked: JudgmentRequest[] = [];
  const judge: Judge = {
    name,
    model: name,
    identityFor: () => ({ model: name, template: 't', sampling: null }),
    unsupported: () => [],
    context_tokens: null,
    async judge(request) {
      asked.push(request);
      const verdicts = answer(request);
      return typeof verdicts === 'string'
        ? { ok: false, failure: { reason: verdicts, detail: 'as told', retryable: true } }
        : { ok: true, verdicts, usage: null };
    },
  };
  return { choice: { ok: true, judge }, asked };
}

export const NOBODY: Answer = (request) => {
  throw new Error(`nobody should be asked about ${request.kind}`);
};

export async function resolved(input: RecipeInput): Promise<ResolvedRecipe> {
  const recipe = await resolveRecipe(input);
  if (!recipe.ok) throw new Error(JSON.stringify(recipe.error));
  return recipe.value;
}

type Parts = {
  readonly judge?: Answer;
  /** Several judges in place of one, by name; `name#1` is the replicate 1 of a judge. */
  readonly judges?: Readonly<Record<string, Answer>>;
  readonly sandbox?: Answer;
  readonly plan?: Omit<PlanOptions, 'sources'>;
};

function optionsOf({ judge = NOBODY, judges = {}, sandbox }: Parts): ObtainOptions {
  const panel = Object.entries(judges).map(([member, answer]) => {
    const [name = '', replicate = '0'] = member.split('#');
    return { judge: name, replicate: Number(replicate), choice: judgeThat(name, answer).choice };
  });
  return {
    judge: judgeThat('judge', judge).choice,
    ...(panel.length === 0 ? {} : { panel }),
    ...(sandbox === undefined ? {} : { sandbox: judgeThat('sandbox', sandbox).choice }),
    store: createMemoryJudgmentStore(),
    mode: 'use',
    replicate: 0,
    deadline_ms: 1_000,
    now: () => '2026-01-01T00:00:00.000Z',
    elapsed: () => 0,
  };
}

/** Scores one rollout; its reply is checked against the wire schema. */
export async function scoreAlone(rollout: Rollout, recipe: RecipeInput, parts: Parts = {}): Promise<ScoredRollout> {
  const plan = { credit: 'claims', ...parts.plan } as const;
  const result = await scoreRollout({ rollout, recipe: await resolved(recipe), plan }, optionsOf(parts));
  if (result.status !== 'done') throw new Error(JSON.stringify(result));
  return checked(result);
}

/** Scores a group. */
export async function scoreMembers(
  rollouts: readonly Rollout[],
  recipe: RecipeInput,
  parts: Parts = {},
): Promise<ScoredRollout[]> {
  const plan = { credit: 'claims' } as const;
  const result = await scoreGroup({ rollouts, recipe: await resolved(recipe), plan }, optionsOf(parts));
  if (result.status !== 'done') throw new Error(JSON.stringify(result));
  return result.members.map(checked);
}

/** The paths that are refused. */
export async function refusedPaths(
  rollout: Rollout,
  recipe: RecipeInput,
  plan: Parts['plan'] = {},
): Promise<unknown[]> {
  const result = await scoreRollout({ rollout, recipe: await resolved(recipe), plan }, optionsOf({}));
  if (result.status !== 'invalid') throw new Error(`not refused: ${JSON.stringify(result)}`);
  return result.problems.map(({ path }) => path.join('.'));
}

/** Checks the reply, and that the shares of the credit add up to the reward, for whatever a test scores. */
function checked(scored: ScoredRollout): ScoredRollout {
  const { reply, credit } = scored;
  scoreResponseSchema.parse({ ...reply, credit });
  if (credit === undefined) throw new Error('a score without the credit that was asked for');
  const sum = credit === null ? null : credit.entries.reduce((total, { share }) => total + share, 0);
  if (sum !== reply.reward) throw new Error(`shares that add up to ${sum} for a reward of ${reply.reward}`);
  return scored;
}

type Family = ScoreResponse['family'];

/** The reply as one of a family. */
export function replyOf<F extends Family>(
  family: F,
  { reply }: Pick<ScoredRollout, 'reply'>,
): Extract<ScoreResponse, { family: F }> {
  if (!isOf(family, reply)) throw new Error(`a score of the family ${reply.family}`);
  return reply;
}

function isOf<F extends Family>(family: F, reply: ScoreResponse): reply is Extract<ScoreResponse, { family: F }> {
  return reply.family === family;
}
