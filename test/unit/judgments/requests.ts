/** Judgment requests for tests of the protocol: one small rollout, as its two requests. */
import type { CitationsRequest } from '../../../src/judgments/kinds/citations/citations.ts';
import type { OutcomeRequest } from '../../../src/judgments/kinds/outcome/outcome.ts';
import type { RubricRequest } from '../../../src/judgments/kinds/rubric/rubric.ts';
import type { JudgedSource } from '../../../src/judgments/protocol/prompt.ts';

/** A request about an answer that cites sources. */
export type CitedRequest = RubricRequest | CitationsRequest;

export const QUESTION = 'How long is the Aare, and where does it rise?';

export const SOURCES: readonly JudgedSource[] = [
  { id: 'S1', title: 'Aare', text: 'The Aare is 288 kilometres long. It lies entirely within Switzerland.' },
  { id: 'S2', text: 'It rises at the Aare Glaciers in the Bernese Alps — not in Italy.' },
];

export const RUBRIC: RubricRequest = {
  kind: 'rubric',
  question: QUESTION,
  sources: SOURCES,
  criteria: [
    { title: 'Length', description: 'States that the Aare is 288 km long' },
    { description: 'Names where the Aare rises' },
  ],
  answer: 'The Aare is 288 km long.',
};

export const CITATIONS: CitationsRequest = {
  kind: 'citations',
  question: QUESTION,
  sources: SOURCES,
  claims: [
    { claim: 0, text: 'The Aare is 288 km long.', sources: [0] },
    { claim: 3, text: 'It rises in the Bernese Alps.', sources: [1, 0] },
  ],
  statements: [{ statement: 2, text: 'Thousands of swimmers float down it every summer.' }],
};

export const OUTCOME: OutcomeRequest = {
  kind: 'outcome',
  question: QUESTION,
  reference: '288 kilometres; in the Bernese Alps',
  answer: 'It is 288 km long and rises in the Bernese Alps.',
};
