/** The recipes of the hack matrix, and how a row is given to each family. */
import { type RecipeInput, type Rollout, recipes } from '../../lib/index.ts';
import { bracketedLinks, type ClaimWriter } from '../../src/citations/claim-writers.ts';
import type { GrammarName } from '../../src/citations/grammars.ts';
import type { HonestRow } from './honest-answers.ts';

/** A column of the matrix. */
export type Setting = {
  readonly name: string;
  /** The head of its column. */
  readonly label: string;
  readonly recipe: RecipeInput;
  /** The grammar in which its column is computed. */
  readonly grammar: GrammarName;
  /** How a citation is written, where the recipe's own code expects another form of the grammar. */
  readonly cite?: ClaimWriter;
  readonly rollout: (row: HonestRow, response: string) => Rollout;
};

/** Refiners, which read every grammar: two published ones, and our default for a recipe of one's own. */
export const REFINERS = {
  'refiner-gpt54-instance-rubric': recipes['refiner-gpt54-instance-rubric'],
  'refiner-rl-balanced': recipes['refiner-rl-balanced'],
  'own recipe': { ...recipes['refiner-rl-balanced'], negatives_require_positive: true },
} as const;

/** Name of a refiner of the matrix. */
export type RefinerName = keyof typeof REFINERS;

const refiner = (name: RefinerName, label: string): Setting => ({
  name,
  label,
  recipe: REFINERS[name],
  grammar: 'snippet',
  rollout: refinerRollout,
});

/** All columns. `-exact` recipes compute the published formulas with the defects of their code. */
export const SETTINGS: readonly Setting[] = [
  refiner('refiner-gpt54-instance-rubric', 'gpt54'),
  refiner('refiner-rl-balanced', 'balanced'),
  refiner('own recipe', 'own'),
  {
    name: 'citations required',
    label: 'required',
    recipe: { ...REFINERS['own recipe'], citations: 'required' },
    grammar: 'snippet',
    rollout: refinerRollout,
  },
  { ...refiner('own recipe', 'guarded'), name: 'refiner-guarded', recipe: 'refiner-guarded' },
  { name: 'dr-tulu', label: 'tulu', recipe: 'dr-tulu', grammar: 'cite', rollout: drTuluRollout },
  { name: 'dr-tulu-exact', label: 'tulu exact', recipe: 'dr-tulu-exact', grammar: 'cite', rollout: drTuluRollout },
  { name: 'carr', label: 'carr', recipe: 'carr', grammar: 'link', cite: bracketedLinks, rollout: outcomeRollout },
  {
    name: 'carr-exact',
    label: 'carr exact',
    recipe: 'carr-exact',
    grammar: 'link',
    cite: bracketedLinks,
    rollout: outcomeRollout,
  },
  { name: 'longtrace-rl', label: 'longtrace', recipe: 'longtrace-rl', grammar: 'bracket', rollout: outcomeRollout },
];

/** The row as a refiner reads it. */
export function refinerRollout({ question, sources, positive, negative }: HonestRow, response: string): Rollout {
  return {
    question,
    response,
    sources,
    positive_rubrics: positive.map((description) => ({ description })),
    negative_rubrics: negative.map((description) => ({ description })),
  };
}

/** A transcript with a search and what it found; the criteria have signs. */
function drTuluRollout({ question, sources, positive, negative }: HonestRow, response: string): Rollout {
  const found = sources.map(({ id, text }) => `<snippet id=${id}>${text}</snippet>`).join('\n');
  const criterion = (weight: number) => (description: string) => ({ description, weight });
  const search = `<call_tool name="google_search">${question}</call_tool>`;
  return {
    question,
    response: `${search}\n<tool_output>${found}</tool_output>\n${response}`,
    rubrics: [...positive.map(criterion(1)), ...negative.map(criterion(-1))],
  };
}

/** The row with its reference, for families that judge the final answer. */
function outcomeRollout(
  { question, sources, reference, entities, entity_rubrics }: HonestRow,
  response: string,
): Rollout {
  return { question, response, sources, reference, entities, entity_rubrics, finish_reason: 'stop' };
}
