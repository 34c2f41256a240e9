/**
 * The names of all judgment kinds, separate from their definitions so that schemas of rows and receipts load neither
 * prompts nor harnesses. The compiler checks that `registry.ts` defines exactly these names.
 */
export const JUDGMENT_KINDS = [
  'rubric',
  'citations',
  'outcome',
  'execution',
  'equivalence',
  'entities',
  'statements',
  'outcome_text',
  'entities_text',
  'comparison',
  'grader',
  'rubrics',
  'statements_text',
] as const;

export type JudgmentKind = (typeof JUDGMENT_KINDS)[number];
