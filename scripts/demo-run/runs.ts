/** The three runs of the demo. They start with the same policy and differ in the recipe or in the rubric of the rows. */
import { makePrompts, type Prompt } from './prompts.ts';

type DemoRecipe =
  | 'refiner-gpt54-instance-rubric'
  | {
      readonly base: 'refiner-gpt54-instance-rubric';
      readonly citation_weight: number;
      readonly instance_rubrics_only: boolean;
    };

/** Names of the runs, in the order of the demo. */
export const RUN_NAMES = ['learns-to-cite', 'vacuous-credit', 'no-citation-weight'] as const;

export type RunName = (typeof RUN_NAMES)[number];

export type DemoRun = {
  readonly name: RunName;
  /** The id of the run in the Worker. */
  readonly id: string;
  /** The recipe and the rows, in one line. */
  readonly setup: string;
  /** A change of the recipe that is worth a replay. */
  readonly change: string;
  readonly recipe: DemoRecipe;
  /** Generates the rows: `distinct` prompts. */
  readonly rows: (seed: string, distinct: number) => readonly Prompt[];
  readonly size: RunSize;
  /** Seed of rows and samples. */
  readonly seed: string;
};

/** How much a run samples: `steps` x `prompts` x `samples` rollouts. */
export type RunSize = {
  readonly steps: number;
  /** Prompts of each step. */
  readonly prompts: number;
  /** Samples of each prompt. */
  readonly samples: number;
  /** Number of different prompts; steps go through them in turn. */
  readonly distinct: number;
};

const SIZE: RunSize = { steps: 24, prompts: 16, samples: 8, distinct: 64 };

export const DEFAULT_SEED = 4;

/** The runs of a seed. With another seed than the default, their ids end in the seed. */
export function demoRuns(seed = DEFAULT_SEED): readonly DemoRun[] {
  const suffix = seed === DEFAULT_SEED ? '' : `-seed-${seed}`;
  return RUN_NAMES.map((name) => ({
    name,
    id: `demo-${name}${suffix}`,
    size: SIZE,
    seed: `citeward demo run ${seed}`,
    ...SETUPS[name],
  }));
}

const SETUPS: Readonly<Record<RunName, Pick<DemoRun, 'setup' | 'change' | 'recipe' | 'rows'>>> = {
  'learns-to-cite': {
    setup: 'recipe refiner-gpt54-instance-rubric; rows with three positive criteria and a negative one',
    change: 'citation_weight=0.5',
    recipe: 'refiner-gpt54-instance-rubric',
    rows: makePrompts,
  },
  'vacuous-credit': {
    setup: 'the same recipe; rows with four negative criteria and a positive one that no source answers',
    change: 'negatives_require_positive=true',
    recipe: 'refiner-gpt54-instance-rubric',
    rows: (seed, distinct) => makePrompts(seed, distinct).map(withUnanswerableRubric),
  },
  'no-citation-weight': {
    setup: 'the first rows; citation_weight 0, instance_rubrics_only',
    change: 'citation_weight=0.2',
    recipe: { base: 'refiner-gpt54-instance-rubric', citation_weight: 0, instance_rubrics_only: true },
    rows: makePrompts,
  },
};

/** Replaces the rubric of a row: one positive criterion that no source answers, and four negative ones. */
function withUnanswerableRubric(prompt: Prompt): Prompt {
  return {
    ...prompt,
    positive_rubrics: [
      { title: 'Why', description: 'Explains why the Norbeck commission of 1911 chose this site over Halvorsund' },
    ],
    negative_rubrics: [
      ...prompt.negative_rubrics,
      { title: 'Invented cause', description: 'Attributes the choice to the Halvorsund flood' },
      { title: 'Wrong year', description: 'Dates the commission to the year 1931' },
      { title: 'Wrong person', description: 'Credits the commission to Gustav Hellmer' },
    ],
  };
}
