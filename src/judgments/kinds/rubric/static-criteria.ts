/**
 * The static V3 set: three criteria that apply to every question. The model card of
 * qwen3-4b-refiner-gpt54-instance-rubric-gpt54-grpo-step50 names them (Citation Discipline, Off-Query Padding,
 * Wrong-Entity Confabulation); wording and polarities are ours. Judgment keys contain the digest of the criteria, so
 * changed words give new keys.
 */

/** Whether a criterion describes a merit or a fault. */
export type Polarity = 'positive' | 'negative';

export type StaticCriterion = {
  readonly title: 'Citation Discipline' | 'Off-Query Padding' | 'Wrong-Entity Confabulation';
  readonly polarity: Polarity;
  readonly description: string;
};

/** Position of Off-Query Padding in the static set. */
export const PADDING_POSITION = 1;

export const STATIC_V3: readonly StaticCriterion[] = [
  {
    title: 'Citation Discipline',
    polarity: 'positive',
    description:
      'Every factual claim in the answer stands inside a citation that names only the few sources which support it. ' +
      'Each cited id occurs in the tool output, each citation covers one claim rather than a whole passage, and ' +
      'nothing factual is left uncited. Connecting words, hedges and statements about what the sources do not say ' +
      'need no citation. Score low where claims are uncited, ids are invented, or many ids are piled on one claim.',
  },
  {
    title: 'Off-Query Padding',
    polarity: 'negative',
    description:
      'The answer spends room on material that does not help to answer the question: background nobody asked for, ' +
      'facts about neighbouring topics, repetition of what was already said, or generic closing remarks. True and ' +
      'well-cited sentences count as padding all the same if the question would be answered as well without them.',
  },
  {
    title: 'Wrong-Entity Confabulation',
    polarity: 'negative',
    description:
      'The answer attributes to one person, place, organisation, work, event or date what the sources say of another, ' +
      'or merges two entities with similar names into one, or states a property of an entity that no source gives ' +
      'it. A single such attribution on which the answer rests is enough.',
  },
];
