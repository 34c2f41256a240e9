/**
 * A copy of the repository with a fifth recipe family: the folder test/house/two-step becomes src/families/two-step,
 * and the registry gets its import and its entry. Nothing else differs, so whatever works in the copy needs no other
 * edit.
 */
import { type CopiedSources, copySources } from './copied-sources.ts';

export function copyWithFifthFamily(): CopiedSources {
  const files = { 'test/house/two-step': 'src/families/two-step' };
  const edits = {
    'src/families/registry.ts': [
      ['import { toolCall }', "import { twoStep } from './two-step/family.ts';\nimport { toolCall }"],
      ['toolCall, drTulu] as const', 'toolCall, drTulu, twoStep] as const'],
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
