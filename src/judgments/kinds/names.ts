/**
 * The names of all judgment kinds, apart from their definitions so that schemas of rows and receipts load neither prompts nor
 * harnesses. The compiler requires each name to have its definition in `registry.ts`, and the reverse.
 */
export const JUDGMENT_KINDS = ['rubric', 'citations', 'outcome', 'execution', 'equivalence'] as const;

export type JudgmentKind = (typeof JUDGMENT_KINDS)[number];
