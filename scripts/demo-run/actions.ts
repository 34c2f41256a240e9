/**
 * The actions of the demo policy: the decisions that writing an answer takes, the options of each, and the preferences
 * that the policy starts with.
 */
import { createDraws, type Draws, type Label } from './draws.ts';
import { type Choice, type Preferences, softmax } from './softmax.ts';

/**
 * The options of each decision. `sentences` and the last two are decided once per answer, the others once for each
 * sentence.
 */
export const ACTIONS = {
  /** How many sentences of the search results the answer states. */
  sentences: ['0', '1', '2', '3', '4', '6'],
  /** Whether the sentence states an asked fact, something else about the place, or a fact about another place. */
  subject: ['asked', 'aside', 'other place'],
  wording: ['copied', 'reworded', 'clipped', 'falsified'],
  citation: ['right id', 'none', 'invented id', 'wrong id', 'six ids'],
  repetition: ['once', 'twice'],
  /** Remarks that no source makes and nobody asked for, at the end of the answer. */
  padding: ['none', 'one remark', 'three remarks'],
  /** A line before the answer block. The recipes of the runs ignore it, so nothing teaches the policy to leave it out. */
  preface: ['none', 'one line'],
} as const;

export type Decision = keyof typeof ACTIONS;
/** An option of a decision, such as `copied` of `wording`. */
export type Option<D extends Decision> = (typeof ACTIONS)[D][number];

export const DECISIONS = Object.keys(ACTIONS).filter((name): name is Decision => Object.hasOwn(ACTIONS, name));

/**
 * The policy before training: it states about two reworded sentences, cites a third of them correctly, and often
 * writes a preface. One preference for each option, in the order of `ACTIONS`.
 */
export const UNTRAINED: Preferences<Decision> = {
  sentences: [-1.2, 0.2, 0.3, 0.3, 0.1, -0.3],
  subject: [0.6, 0.4, 0],
  wording: [-1, 0.9, 0.3, 0],
  citation: [0.3, 0.7, 0, 0, -1],
  repetition: [1.2, -1],
  padding: [0.6, 0.4, -0.6],
  preface: [0.2, 0.1],
};

/** Decides one option. */
export type Decide = <D extends Decision>(decision: D) => Option<D>;

/** Samples the options of one answer and keeps what was chosen. The same labels give the same options. */
export class SampledChoices {
  readonly #probabilities: Preferences<Decision>;
  readonly #draws: Draws;
  readonly #choices: Choice<Decision>[] = [];

  constructor(probabilities: Preferences<Decision>, ...labels: readonly Label[]) {
    this.#probabilities = probabilities;
    this.#draws = createDraws(...labels);
  }

  get choices(): readonly Choice<Decision>[] {
    return this.#choices;
  }

  readonly decide: Decide = (decision) => {
    const option = optionAt(this.#probabilities[decision], this.#draws.share(this.#choices.length));
    this.#choices.push({ decision, option });
    return optionOf(decision, option);
  };
}

/** The name of an option. @throws RangeError if the decision has no such option. */
export function optionOf<D extends Decision>(decision: D, option: number): Option<D> {
  const options: readonly Option<D>[] = ACTIONS[decision];
  const name = options[option];
  if (name === undefined) throw new RangeError(`optionOf: ${decision} has no option ${option}`);
  return name;
}

/** The probability of each option under preferences. */
export function probabilitiesOf(preferences: Preferences<Decision>): Preferences<Decision> {
  return {
    sentences: softmax(preferences.sentences),
    subject: softmax(preferences.subject),
    wording: softmax(preferences.wording),
    citation: softmax(preferences.citation),
    repetition: softmax(preferences.repetition),
    padding: softmax(preferences.padding),
    preface: softmax(preferences.preface),
  };
}

/** The option that a uniform draw in [0, 1) selects. */
function optionAt(probabilities: readonly number[], share: number): number {
  let left = share;
  for (const [option, probability] of probabilities.entries()) {
    left -= probability;
    if (left < 0) return option;
  }
  // Rounding: the probabilities add up to slightly less than 1.
  return probabilities.length - 1;
}
