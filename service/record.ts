/**
 * Scores rollouts and records them in the ledger of a run. The write is awaited: a reply with a reward implies that its
 * rollout is in the ledger, and a rollout that could not be recorded gets no reward.
 */

import type { ResolvedRecipe } from '../src/families/resolve.ts';
import type { Rollout } from '../src/family/rollout.ts';
import { createWordCounter } from '../src/lexical/index.ts';
import type { Result } from '../src/result.ts';
import type { RecordedSet } from '../src/rubrics/recorded-set.ts';
import { contentDigests } from '../src/runs/content-digest.ts';
import { persistentReward } from '../src/runs/persistent-reward.ts';
import { recordedScore } from '../src/runs/recorded-score.ts';
import { MAX_JUDGED_BY_CHARS, type RolloutOutcome } from '../src/runs/rollout-counts.ts';
import { type RunPlacement, visitOfPlace } from '../src/runs/row.ts';
import { judgesOf } from '../src/scoring/reward-reply.ts';
import type { ScoredRollout } from '../src/scoring/score-rollouts.ts';
import { type RunRecord, requestedPanel } from '../src/wire/score.ts';
import type { ScoredMember } from '../src/wire/score-detail.ts';
import type { RequestFailure } from './failures.ts';
import type { Recording, RecordingResult } from './ledger-port.ts';
import type { Ledger, ScoringPlatform } from './ports.ts';
import { type ScoringOptions, type ScoringReply, scoreOne, scoreTogether } from './score.ts';
import { StorageError } from './storage-error.ts';

/** The place of one rollout in a run. */
type Placed = Omit<RunPlacement, 'samples' | 'reported' | 'store_text'> & {
  readonly sample: string;
  readonly reported?: RolloutOutcome;
};

type RecordedOptions = Pick<ScoringOptions, 'judge' | 'judges' | 'replicate'> & {
  readonly rubricSet?: RecordedSet | null;
};

/** Scores a rollout, and records it if `placement` is given. */
export async function scoreRecorded(
  rollout: Rollout,
  options: ScoringOptions,
  placement: RunPlacement | null,
  platform: ScoringPlatform,
): Promise<ScoringReply<ScoredMember>> {
  if (placement === null) return scoreOne(rollout, options, platform);
  const { records } = platform;
  if (records === null) return NO_RUNS;
  const scored = await scoreOne(rollout, { ...options, ...visitOfPlace(placement), measureAll: true }, platform);
  if (!scored.ok) return scored;
  const recorded = await recordGroup([rollout], [scored.reply], scored.recipe, options, placement, records.ledger);
  if (!recorded.ok) return { ok: false, failure: recorded.error, timings: scored.timings };
  const [reply] = recorded.value;
  if (reply === undefined) throw new Error('scoreRecorded: the rollout was lost');
  return { ...scored, reply };
}

/**
 * Scores the samples of one prompt together, and records them in one write if `placement` is given.
 * @param rubricSet the set that the criteria of the rollouts are; `null` = they are the row's own.
 */
export async function scoreTogetherRecorded(
  rollouts: readonly Rollout[],
  options: ScoringOptions,
  placement: RunPlacement | null,
  platform: ScoringPlatform,
  rubricSet: RecordedSet | null = null,
): Promise<ScoringReply<readonly ScoredMember[]>> {
  if (placement === null) return scoreTogether(rollouts, options, platform);
  const { records } = platform;
  if (records === null) return NO_RUNS;
  const scored = await scoreTogether(rollouts, { ...options, ...visitOfPlace(placement), measureAll: true }, platform);
  if (!scored.ok) return scored;
  const how = { ...options, rubricSet };
  const recorded = await recordGroup(rollouts, scored.reply, scored.recipe, how, placement, records.ledger);
  if (!recorded.ok) return { ok: false, failure: recorded.error, timings: scored.timings };
  return { ...scored, reply: recorded.value };
}

const NO_RUNS = { ok: false, failure: { reason: 'needs_worker', field: 'run' }, timings: null } as const;

async function recordGroup(
  rollouts: readonly Rollout[],
  scored: readonly ScoredRollout[],
  recipe: ResolvedRecipe,
  options: RecordedOptions,
  { samples, reported = [], store_text, ...group }: RunPlacement,
  ledger: Ledger,
): Promise<Result<readonly ScoredMember[], RequestFailure>> {
  const places = samples.map((sample, n) => ({ ...group, sample, reported: reported[n] ?? {} }));
  const recorded = await recordScores({ rollouts, scored, places, recipe, options, store_text }, ledger);
  if (!recorded.ok) return recorded;
  return {
    ok: true,
    value: scored.map((member, position) => {
      const run = recorded.value[position];
      if (run === undefined) throw new Error('recordGroup: a record was lost');
      const { rubricSet = null } = options;
      const set = rubricSet === null ? {} : { rubric_set: rubricSet };
      return { ...member, reply: { ...member.reply, run, ...set }, run, ...set };
    }),
  };
}

type ScoresToRecord = {
  readonly rollouts: readonly Rollout[];
  /**
   * The score of each rollout, and in `places` its place in the run, both in the order of `rollouts`. All places are in
   * one run.
   */
  readonly scored: readonly ScoredRollout[];
  readonly places: readonly Placed[];
  readonly recipe: ResolvedRecipe;
  readonly options: RecordedOptions;
  readonly store_text: boolean;
  /** The request field that names the run, for problems. Default: `run.id`. */
  readonly path?: readonly string[];
};

/** Records rollouts that have been scored. */
export async function recordScores(
  scores: ScoresToRecord,
  ledger: Ledger,
): Promise<Result<readonly RunRecord[], RequestFailure>> {
  const [first] = scores.places;
  if (first === undefined) return { ok: true, value: [] };
  let result: RecordingResult;
  try {
    result = await ledger.record(await recordingOf(scores, first.run));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return { ok: false, error: { reason: 'ledger_failed', why: 'storage' } };
  }
  switch (result.status) {
    case 'family_differs': {
      const message = `the run holds rewards of the family "${result.family}"; use a recipe of that family or another run id`;
      const problems = [{ path: [...(scores.path ?? ['run', 'id'])], message }];
      return { ok: false, error: { reason: 'input_invalid', problems } };
    }
    case 'deleting':
      return { ok: false, error: { reason: 'ledger_failed', why: 'deleting' } };
    case 'done': {
      const { rollouts } = result;
      return {
        ok: true,
        value: scores.places.map(({ run, step, group, sample }, position) => {
          const recorded = rollouts[position];
          if (recorded === undefined || recorded.status === 'taken')
            throw new Error('recordScores: a rollout was lost');
          const { attempt, status } = recorded;
          return { id: run, step, group, sample, attempt, status };
        }),
      };
    }
  }
}

async function recordingOf(
  { rollouts, scored, places, recipe, options, store_text }: ScoresToRecord,
  run: string,
): Promise<Recording> {
  const { replicate, judge, rubricSet = null } = options;
  const panel = requestedPanel(options);
  const contents = contentDigests(rollouts, { recipe: recipe.digest, judge, panel, replicate });
  const shared = store_text ? sharedFields(rollouts) : {};
  // The samples of a group request have one judge; single samples of a group may have different ones of a list.
  const words = { run, count: createWordCounter() };
  const isAlone = rollouts.length === 1 && Array.isArray(judge) && judge.length > 1;
  const recorded = rollouts.map(async (rollout, position) => {
    const [member, place, content] = [scored[position], places[position], contents[position]];
    if (member === undefined || place === undefined || content === undefined) {
      throw new Error('recordingOf: fewer scores, places or contents than rollouts');
    }
    const { step, group, sample, grouping, reported = {} } = place;
    const own = Object.entries(rollout).filter(([name]) => !Object.hasOwn(shared, name));
    const { stored, counts, ...score } = recordedScore(member, store_text, {
      chars: rollout.response.length,
      words,
    });
    const persistent = rubricSet === null ? null : persistentReward(member.facts, recipe.recipe, rubricSet);
    return {
      ...score,
      counts: {
        ...counts,
        ...(persistent === null ? {} : { persistent_reward: persistent }),
        ...(isAlone ? judgedBy(member) : {}),
        ...reported,
      },
      stored: { ...stored, ...(rubricSet === null ? {} : { rubric_set: rubricSet }) },
      ...{ step, group, sample, grouping, content },
      recipe: recipe.digest,
      rollout: store_text ? Object.fromEntries(own) : null,
    };
  });
  return {
    run,
    family: recipe.recipe.family,
    recipes: [{ digest: recipe.digest, name: recipe.name, recipe: recipe.recipe }],
    rollouts: await Promise.all(recorded),
    shared,
    store_text,
    now: Date.now(),
  };
}

/** The model that judged; empty if none did. */
function judgedBy(member: ScoredRollout): { readonly judged_by?: string } {
  const models = new Set(judgesOf([member]).map(({ model }) => model));
  return models.size === 0 ? {} : { judged_by: [...models].join(', ').slice(0, MAX_JUDGED_BY_CHARS) };
}

/** The fields that all rollouts share, above all the tool output of a group. They are stored once. */
function sharedFields(rollouts: readonly Rollout[]): Record<string, unknown> {
  const [first, ...others] = rollouts;
  if (first === undefined || others.length === 0) return {};
  const all = others.map((rollout) => new Map<string, unknown>(Object.entries(rollout)));
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => all.every((other) => other.get(name) === value)),
  );
}
