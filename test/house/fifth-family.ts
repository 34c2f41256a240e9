/**
 * A copy of the repository with a fifth recipe family: the folder test/house/two-step becomes src/families/two-step,
 * and src/families/list.ts gets its imports and its entry in each list. Nothing else differs, so whatever works in the
 * copy needs no other edit.
 */
import { type CopiedSources, copySources } from './copied-sources.ts';

const IMPORTS = `
import { twoStepComposer } from './two-step/composer.ts';
import { twoStep, twoStepDocuments } from './two-step/family.ts';
import { twoStepFactsSchema, twoStepRecipeSchema } from './two-step/schemas.ts';
`;

export function copyWithFifthFamily(): CopiedSources {
  const files = { 'test/house/two-step': 'src/families/two-step' };
  const edits = {
    'src/families/list.ts': [
      ['/** The families as replay uses them. */', `${IMPORTS}\n/** The families as replay uses them. */`],
      ['drTuluComposer] as const', 'drTuluComposer, twoStepComposer] as const'],
      [
        'facts: drTuluFactsSchema },',
        'facts: drTuluFactsSchema },\n{ recipe: twoStepRecipeSchema, facts: twoStepFactsSchema },',
      ],
      ['toolCall, drTulu] as const', 'toolCall, drTulu, twoStep] as const'],
      ['formula: DR_TULU_FORMULA },', 'formula: DR_TULU_FORMULA },\ntwoStepDocuments,'],
    ],
  } as const;
  return copySources({ files, edits });
}

/** Rows of the family: right with both criteria, right with one of them, wrong. */
export const ROWS = [
  'The bridge opened in 1937 and is painted orange.',
  'The bridge opened in 1937.',
  'The bridge opened in 1941.',
].map((response) => ({
  question: 'When did the bridge open?',
  reference: 'The bridge opened in 1937',
  response,
  positive_rubrics: ['States that the bridge opened in 1937', 'Says that the bridge is painted orange'],
  recipe: 'two-step',
}));
