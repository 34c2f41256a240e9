/**
 * Scores a group of `POST /v1/groups`; with `evolution` under the evolving rubric of its prompt.
 *
 *     next_visit: visit -> score and, at the same time, generate -> record -> log scores and proposal
 *     same_step:  visit -> generate -> log the proposal -> score under the new set -> record -> log scores
 *
 * The visit fixes the set and what the generator is shown, and the log takes a group once. So a request that is repeated
 * after a crash repeats no judgment, and counts nothing twice.
 */

import type { FamilyName } from '../src/families/composers.ts';
import { type BuiltInTypes, familyOf } from '../src/families/registry.ts';
import { resolveRecipe } from '../src/families/resolve.ts';
import type { RubricPort } from '../src/family/family.ts';
import type { Rollout, SignedCriterionInput } from '../src/family/rollout.ts';
import type { InputProblem } from '../src/input-problem.ts';
import type { Result } from '../src/result.ts';
import type { GroupProposal } from '../src/rubrics/append.ts';
import { statisticsOf } from '../src/rubrics/evolution.ts';
import type { CriterionStatistics, EvolutionEvent, WeightedCriterion } from '../src/rubrics/evolution-log.ts';
import type { RecordedSet } from '../src/rubrics/recorded-set.ts';
import { questionDigest, setId } from '../src/rubrics/rubric-set.ts';
import type { RunPlacement } from '../src/runs/row.ts';
import type { EvolutionReport, EvolutionRequest } from '../src/wire/evolution.ts';
import { type GroupRequest, requestedGroupPlacement } from '../src/wire/groups.ts';
import { rulesOf, weightedCriteria } from '../src/wire/rubrics.ts';
import type { ScoredMember } from '../src/wire/score-detail.ts';
import { chooseJudge } from './backends/configured.ts';
import { RequestError, type RequestFailure } from './failures.ts';
import type { GroupVisit, ObserveAnswer, RunLife } from './ledger-port.ts';
import type { EvolvingRubrics, ScoringPlatform } from './ports.ts';
import { scoreTogetherRecorded } from './record.ts';
import type { ScoringOptions, ScoringReply } from './score.ts';
import { StorageError } from './storage-error.ts';

type GroupScore = {
  readonly scored: ScoringReply<readonly ScoredMember[]>;
  /** `null` = the rubric of the group does not evolve, or scoring failed. */
  readonly evolution: EvolutionReport | null;
};

/** Scores the group of a request, and records it if the request names a run. */
export async function scoreRequestedGroup(
  request: GroupRequest,
  rollouts: readonly Rollout[],
  options: ScoringOptions,
  platform: ScoringPlatform,
): Promise<GroupScore> {
  const placement = requestedGroupPlacement(request);
  const { evolution } = request;
  const { records } = platform;
  if (evolution === undefined || placement === null) {
    return { scored: await scoreTogetherRecorded(rollouts, options, placement, platform), evolution: null };
  }
  if (records === null) return failed({ reason: 'needs_worker', field: 'run' });
  const { rubrics } = records;
  try {
    const begun = await beginVisit(rollouts, options, placement, evolution, { platform, rubrics });
    if (!begun.ok) return failed(begun.error);
    return await evolve(begun.value, { rollouts, options, placement, platform, rubrics });
  } catch (error) {
    if (error instanceof RequestError) return failed(error.failure);
    if (error instanceof StorageError) return failed({ reason: 'storage_failed' });
    throw error;
  }
}

type Group = {
  readonly rollouts: readonly Rollout[];
  readonly options: ScoringOptions;
  readonly placement: RunPlacement;
  readonly platform: ScoringPlatform;
  readonly rubrics: EvolvingRubrics;
};

type Port = RubricPort<BuiltInTypes['facts']>;

/** A visit that has begun. */
type Begun = {
  readonly port: Port;
  readonly life: RunLife;
  readonly prompt: string;
  readonly question: string;
  readonly step: number;
  readonly visit: GroupVisit;
  /** The generator to ask; `undefined` = none. */
  readonly generator: string | null | undefined;
};

async function beginVisit(
  rollouts: readonly Rollout[],
  options: ScoringOptions,
  { run, step, group }: RunPlacement,
  { rules, generator }: EvolutionRequest,
  { platform, rubrics }: Pick<Group, 'platform' | 'rubrics'>,
): Promise<Result<Begun, RequestFailure>> {
  const recipe = await resolveRecipe(options.recipe);
  if (!recipe.ok) return invalid(...recipe.error);
  const { family } = recipe.value.recipe;
  const port = familyOf({ family }).rubric;
  if (port === undefined) {
    return invalid({ path: ['evolution'], message: `rows of the family "${family}" have no criteria` });
  }
  const [first] = rollouts;
  const question = first?.question;
  if (first === undefined || question === undefined || rollouts.some((other) => other.question !== question)) {
    return invalid({ path: ['question'], message: 'required, the same for all samples: it names the prompt' });
  }
  if (typeof generator === 'string' && chooseJudge(platform.backends, generator) === null) {
    const configured = platform.backends.named.map(({ judge }) => judge.name);
    return { ok: false, error: { reason: 'judge_unknown', configured } };
  }
  if (step === null) throw new Error('beginVisit: no step after validation');
  const prompt = questionDigest(question);
  const own = ownCriteria(prompt, port, first);
  const started = await rubrics.start({
    ...{ run, family, prompt },
    rules: rules === undefined ? null : rulesOf(rules),
    own: own.length === 0 ? null : own,
    visit: { step, group },
    now: Date.now(),
  });
  switch (started.status) {
    case 'deleting':
      return { ok: false, error: { reason: 'ledger_failed', why: 'deleting' } };
    case 'family_differs':
      return invalid(familyProblem(started.family));
    case 'done': {
      const { answer, life } = started;
      if (answer.status === 'rules_differ') return invalid({ path: ['evolution', 'rules'], message: DIFFERS });
      if (answer.status === 'criteria_differ') return invalid({ path: ['evolution'], message: OWN_DIFFERS });
      const { visit } = answer;
      if (visit === null) throw new Error('beginVisit: the visit was lost');
      const asked = generator === null || visit.proposed ? undefined : (generator ?? null);
      return { ok: true, value: { port, life, prompt, question, step, visit, generator: asked } };
    }
  }
}

const DIFFERS = 'the prompt began with other rules, which are fixed for its run; leave the field out to keep them';
const OWN_DIFFERS = "the prompt began with other criteria of its row; send the row's own ones, or none";

function familyProblem(family: FamilyName | string): InputProblem {
  const message = `the run holds rewards of the family "${family}"; use a recipe of that family or another run id`;
  return { path: ['run', 'id'], message };
}

/** The row's own criteria, which start a prompt. Those of weight 0 never count. */
function ownCriteria(prompt: string, port: Port, rollout: Rollout): WeightedCriterion[] {
  return weightedCriteria(
    prompt,
    port.criteriaOf(rollout).flatMap(({ weight, ...criterion }) => {
      if (weight === 0) return [];
      return [{ ...criterion, polarity: weight < 0 ? 'negative' : 'positive', weight: Math.abs(weight) } as const];
    }),
  );
}

async function evolve(begun: Begun, group: Group): Promise<GroupScore> {
  return begun.visit.rules.when === 'same_step' ? evolveSameStep(begun, group) : evolveNextVisit(begun, group);
}

async function evolveSameStep(begun: Begun, group: Group): Promise<GroupScore> {
  const proposal = await proposalOf(begun, group);
  const first = proposal === null ? null : await logged(begun, group, begun.visit, { proposal, statistics: null });
  const visit = first?.visit ?? begun.visit;
  const { scored, statistics } = await scoreUnder(begun, visit, group);
  if (!scored.ok) return { scored, evolution: null };
  const last = await logged(begun, group, visit, { proposal: null, statistics });
  const events = [...(first?.events ?? []), ...last.events];
  const answer = { ...last, events, stale: last.stale || first?.stale === true };
  return { scored, evolution: report(begun, visit, proposal, answer) };
}

async function evolveNextVisit(begun: Begun, group: Group): Promise<GroupScore> {
  const { visit } = begun;
  const [proposal, { scored, statistics }] = await Promise.all([
    proposalOf(begun, group),
    scoreUnder(begun, visit, group),
  ]);
  if (!scored.ok) return { scored, evolution: null };
  const answer = await logged(begun, group, visit, { proposal, statistics });
  return { scored, evolution: report(begun, visit, proposal, answer) };
}

/** Asks the generator; `null` = none is to be asked. A failure is a value, which the log keeps. */
async function proposalOf(
  { generator, visit, prompt, question }: Begun,
  { rollouts, platform }: Group,
): Promise<GroupProposal | null> {
  if (generator === undefined) return null;
  const byId = new Map(visit.criteria.map(({ id, criterion }) => [id, criterion]));
  const textsOf = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []);
  const responses = rollouts.map(({ response }) => response);
  const made = await platform.makeRubrics({
    question,
    responses,
    persistent: textsOf(visit.entries.flatMap(({ id, type }) => (type === 'persistent' ? [id] : []))),
    active: textsOf(visit.entries.flatMap(({ id, type }) => (type === 'evolving' ? [id] : []))),
    retired: textsOf(visit.inactive),
    generator,
  });
  if (!made.ok) return { kind: 'failed', reason: made.error.reason };
  const { criteria, judgment, read, rejected } = made.value;
  return { kind: 'proposed', criteria: weightedCriteria(prompt, criteria), judgment, responses: [...read], rejected };
}

/** Scores and records the group under the set of a visit. */
async function scoreUnder(
  { port, prompt }: Begun,
  visit: GroupVisit,
  { rollouts, options, placement, platform }: Group,
): Promise<{
  readonly scored: ScoringReply<readonly ScoredMember[]>;
  /** `null` = no criterion has a verdict. */
  readonly statistics: readonly CriterionStatistics[] | null;
}> {
  const byId = new Map(visit.criteria.map((one) => [one.id, one.criterion]));
  const criteria = visit.entries.map(({ id, weight }): SignedCriterionInput => {
    const criterion = byId.get(id);
    if (criterion === undefined) throw new Error('scoreUnder: a set names a criterion that nothing proposed');
    const { polarity, ...text } = criterion;
    return { ...text, weight: polarity === 'negative' ? -weight : weight };
  });
  const positions = [...port.positions(criteria)];
  const entries = [...visit.entries];
  const set: RecordedSet = { prompt, id: setId(entries), entries, positions };
  const under = rollouts.map((rollout) => port.withCriteria(rollout, criteria));
  const scored = await scoreTogetherRecorded(under, options, placement, platform, set);
  if (!scored.ok) return { scored, statistics: null };
  const scores = scored.reply.map(({ facts }) => port.scores(facts));
  const statistics = entries.map(({ id }, n) => {
    const position = positions[n] ?? -1;
    return statisticsOf(
      id,
      scores.map((member) => member?.[position] ?? null),
    );
  });
  return { scored, statistics: statistics.some(({ n }) => n > 0) ? statistics : null };
}

type Observed = {
  readonly proposal: GroupProposal | null;
  readonly statistics: readonly CriterionStatistics[] | null;
};

/** Writes what the group showed into the log. */
async function logged(
  { life, prompt, step }: Begun,
  { placement, rubrics }: Group,
  visit: GroupVisit,
  observed: Observed,
): Promise<ObserveAnswer> {
  const observation = { step, group: placement.group, under: setId(visit.entries), ...observed };
  const scoresNext = observed.statistics === null && visit.rules.when === 'same_step';
  const answer = await rubrics.observe(life, prompt, observation, scoresNext);
  if (answer === null) throw new RequestError({ reason: 'run_gone' });
  return answer;
}

function report(
  { prompt, visit: begun }: Begun,
  visit: GroupVisit,
  proposal: GroupProposal | null,
  { events, stale, set: next_set, scored: recorded }: ObserveAnswer,
): EvolutionReport {
  const set = setId(visit.entries);
  return {
    ...{ prompt, set, next_set, recorded, stale, events: [...events] },
    generation: generationOf(events, proposal, begun.proposed),
  };
}

/** What became of the generation. The log may refuse a proposal, or have one from this group already. */
function generationOf(
  events: readonly EvolutionEvent[],
  proposal: GroupProposal | null,
  wasProposed: boolean,
): EvolutionReport['generation'] {
  for (const event of events) {
    if (event.event === 'generation_failed') return { status: 'failed', failure: event.reason, proposed: [] };
    if (event.event === 'proposed') {
      return { status: 'proposed', failure: null, proposed: event.criteria.map(({ id }) => id) };
    }
  }
  return { status: proposal !== null || wasProposed ? 'repeated' : 'none', failure: null, proposed: [] };
}

function invalid(...problems: readonly InputProblem[]): Result<never, RequestFailure> {
  return { ok: false, error: { reason: 'input_invalid', problems } };
}

function failed(failure: RequestFailure): GroupScore {
  return { scored: { ok: false, failure, timings: null }, evolution: null };
}
