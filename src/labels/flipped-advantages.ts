/**
 * What the errors of a judge do to training: the share of advantages whose sign they change. Labelled rows that ask the
 * same of several answers to one question form a group. Each answer is scored twice by the refiner's composition, once
 * with the labels as verdicts and once with the judge's verdicts, and both groups get GRPO advantages.
 */
import { type ResolvedRecipe, resolveRecipe } from '../families/resolve.ts';
import type { Rollout } from '../family/rollout.ts';
import type { Judge } from '../judgments/judge.ts';
import type { JudgmentRequest, Verdicts } from '../judgments/kinds/registry.ts';
import { criterionKey } from '../judgments/kinds/rubric/rubric.ts';
import { createMemoryJudgmentStore } from '../judgments/store.ts';
import { type SignChange, signChange } from '../runs/replay-group.ts';
import { advantages } from '../scoring/advantages.ts';
import { scoreRollout } from '../scoring/score-rollouts.ts';
import { share } from './label-figures.ts';
import type { LabelledRow } from './labelled-row.ts';

/** What a group is made of. `sources`: ids; the text of sources does not enter. */
export type GroupedRow = Pick<LabelledRow, 'asked' | 'level' | 'question'> & {
  readonly cluster: number;
  readonly sources: readonly string[];
  /** Equal for rows with equal sources, text included. */
  readonly sources_digest: string;
  readonly verdict: number | null;
};

export type FlipFigures = {
  /** Groups of at least two answers. Rows without another answer to compare with are in none. */
  readonly groups: number;
  /** Answers whose advantage is compared: scored with the labels and with the verdicts. */
  readonly answers: number;
  /** Answers without a verdict; their advantages are masked, as in training. */
  readonly not_compared: number;
  readonly kept: number;
  /** From positive to negative or back. */
  readonly flipped: number;
  /** To 0: the judge does not tell answers apart that the labels do. */
  readonly silenced: number;
  /** From 0: the judge tells answers apart that the labels do not. */
  readonly awakened: number;
  readonly flipped_share: number | null;
  /** Share of flipped, silenced and awakened advantages. */
  readonly changed_share: number | null;
};

/** The preset of the advantages. Presets differ in scale; the signs are those of every preset with a mean baseline. */
const ADVANTAGES = 'trl';

/** Scores all groups with both sets of verdicts. Linear in the texts of the answers. */
export async function flippedAdvantages(rows: readonly GroupedRow[]): Promise<FlipFigures> {
  const counts: Record<SignChange, number> = { kept: 0, flipped: 0, silenced: 0, awakened: 0, not_compared: 0 };
  const groups = answerGroups(rows);
  const recipes = {
    criterion: await namedRecipe({ ...BASE, citation_weight: 0 }),
    claim: await namedRecipe({ ...BASE, citation_weight: 1 }),
  };
  const rewards = (answers: readonly Answer[], levelOf: (row: GroupedRow) => number | null) =>
    Promise.all(
      answers.map((answer) => {
        const recipe = answer[0].asked.kind === 'criterion' ? recipes.criterion : recipes.claim;
        return rewardOf(answer, recipe, levelOf);
      }),
    );
  for (const answers of groups) {
    const byLabel = advantagesOf(await rewards(answers, ({ level }) => level));
    const byVerdict = advantagesOf(await rewards(answers, ({ verdict }) => verdict));
    for (const [position, before] of byLabel.entries()) {
      const after = byVerdict[position];
      if (after !== undefined) counts[signChange(before, after)]++;
    }
  }
  const { kept, flipped, silenced, awakened, not_compared } = counts;
  const compared = kept + flipped + silenced + awakened;
  return {
    groups: groups.length,
    answers: compared,
    not_compared,
    kept,
    flipped,
    silenced,
    awakened,
    flipped_share: share(flipped, compared),
    changed_share: share(compared - kept, compared),
  };
}

function advantagesOf(rewards: readonly (number | null)[]) {
  const result = advantages(rewards, ADVANTAGES);
  if (!result.ok) throw new Error('flippedAdvantages: the rewards were refused');
  return result.value.advantages;
}

/** One answer with its rows: the criteria that it is judged by, or the one claim that it consists of. */
type Answer = readonly [GroupedRow, ...GroupedRow[]];

/** Groups the answers to one question that are judged by the same criteria, and the claims about the same sources. */
function answerGroups(rows: readonly GroupedRow[]): Answer[][] {
  const byAsked = new Map<string, GroupedRow[]>();
  for (const row of rows) {
    const { asked, cluster, sources_digest } = row;
    if (asked.kind === 'needs_citation') continue;
    const about =
      asked.kind === 'criterion' ? [asked.criterion.title ?? null, asked.criterion.description] : asked.cites;
    const key = JSON.stringify([asked.kind, cluster, sources_digest, about]);
    byAsked.set(key, [...(byAsked.get(key) ?? []), row]);
  }
  // Criteria that are asked of the same answers are the rubric of one group.
  const groups = new Map<string, Map<string, GroupedRow[]>>();
  for (const members of byAsked.values()) {
    const answers = new Map(members.map((row) => [answerText(row), row]));
    if (answers.size < 2) continue;
    const [first] = members;
    const key = JSON.stringify([first?.asked.kind, first?.cluster, first?.sources_digest, [...answers.keys()].sort()]);
    const group = groups.get(key) ?? new Map<string, GroupedRow[]>();
    groups.set(key, group);
    for (const [answer, row] of answers) group.set(answer, [...(group.get(answer) ?? []), row]);
  }
  return [...groups.values()].map((group) =>
    [...group.values()].flatMap(([first, ...more]): Answer[] => (first === undefined ? [] : [[first, ...more]])),
  );
}

function answerText({ asked, sources }: GroupedRow): string {
  switch (asked.kind) {
    case 'criterion':
      return asked.answer;
    case 'claim': {
      const ids = asked.cites.flatMap((source) => sources[source] ?? []).join(',');
      return `<snippet id=${ids}>${asked.claim}</snippet>`;
    }
    case 'needs_citation':
      return asked.statement;
  }
}

/** The reward of an answer under given verdicts; `null` if one of them is missing. */
async function rewardOf(
  answer: Answer,
  recipe: ResolvedRecipe,
  levelOf: (row: GroupedRow) => number | null,
): Promise<number | null> {
  const [first] = answer;
  const text = answerText(first);
  const rollout: Rollout = {
    question: first.question ?? '(not known)',
    sources: first.sources.map((id) => ({ id, text: '' })),
    response: text.includes('<answer>') ? text : `<answer>${text}</answer>`,
    finish_reason: 'stop',
    // A rollout needs a criterion. That of a claim has no weight and is not judged.
    positive_rubrics: answer.map(({ asked }) => (asked.kind === 'criterion' ? asked.criterion : { description: '-' })),
  };
  const scored = await scoreRollout(
    { rollout, recipe },
    {
      judge: { ok: true, judge: judgeOf(answer.map(levelOf)) },
      // A store for each score: the same question has two verdicts here.
      store: createMemoryJudgmentStore(new Map()),
      mode: 'use',
      replicate: 0,
      deadline_ms: 1_000,
      now: () => '1970-01-01T00:00:00.000Z',
      elapsed: () => 0,
    },
  );
  if (scored.status !== 'done') throw new Error(`flippedAdvantages: the answer was not scored: ${scored.status}`);
  return scored.score.reward;
}

const BASE = {
  base: 'refiner-gpt54-instance-rubric',
  judge_static: false,
  verbatim_gate: false,
  mode: 'answer_only',
  mix: 'convex',
} as const;

async function namedRecipe(fields: Readonly<Record<string, unknown>>): Promise<ResolvedRecipe> {
  const recipe = await resolveRecipe(fields);
  if (!recipe.ok) throw new Error('flippedAdvantages: the recipe was refused');
  return recipe.value;
}

const IDENTITY = { model: 'labels', template: 'labels', sampling: null };

/** A judge that answers with given levels, one for each criterion, or one for the claim. */
function judgeOf(levels: readonly (number | null)[]): Judge {
  return {
    name: 'labels',
    model: IDENTITY.model,
    identityFor: () => IDENTITY,
    context_tokens: null,
    async judge(request) {
      const verdicts = verdictsOf(request, levels);
      return verdicts === null ? { ok: false, failure: NO_VERDICT } : { ok: true, verdicts, usage: null };
    },
  };
}

const NO_VERDICT = { reason: 'judge_refusal', detail: 'no verdict', retryable: false } as const;

function verdictsOf(request: JudgmentRequest, levels: readonly (number | null)[]): Verdicts | null {
  if (request.kind === 'rubric') {
    const criteria = request.criteria.flatMap((_, position) => {
      const score = SCORES.find((one) => one === levels[position]);
      return score === undefined ? [] : [{ key: criterionKey(position), score }];
    });
    return criteria.length === request.criteria.length ? { kind: 'rubric', criteria } : null;
  }
  if (request.kind !== 'citations') return null;
  const support = SUPPORTS[levels[0] ?? -1];
  if (support === undefined) return null;
  return {
    kind: 'citations',
    claims: request.claims.map(({ claim, sources }) => ({
      claim,
      support,
      relevant: sources.map(() => support > 0),
      quote: 'absent',
    })),
    statements: request.statements.map(({ statement }) => ({ statement, needs_citation: false })),
  };
}

const SCORES = [0, 1, 2] as const;
const SUPPORTS = [0, 0.5, 1] as const;
