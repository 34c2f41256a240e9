/**
 * Judge requests for the check: a small one of each kind, and the rubric requests of a group whose samples differ only
 * in the answer. The texts were written for the check; none is from a data set.
 */
import type { CitationsRequest } from '../../src/judgments/kinds/citations/citations.ts';
import type { RubricRequest } from '../../src/judgments/kinds/rubric/rubric.ts';
import type { JudgedSource } from '../../src/judgments/protocol/prompt.ts';

const FACTS = [
  'The lamp of a lighthouse stands at the focus of a Fresnel lens, which bends its light into a flat beam.',
  'Keepers once wound a clockwork every few hours so that the lens would turn at an even pace.',
  'The rhythm of flashes, its character, is printed on charts and tells one light from the next.',
  'Towers on low coasts are tall, towers on cliffs short, because haze hides what stands too high.',
];

function sources(nonce: string, repeats: number): readonly JudgedSource[] {
  return FACTS.map((fact, position) => ({
    id: `light-${position + 1}`,
    title: 'Notes on lighthouses',
    text: Array.from({ length: repeats }, (_unused, n) => `(${nonce}, note ${n + 1}) ${fact}`).join(' '),
  }));
}

/** One sample of a group: `sample` changes the answer and nothing before it. `repeats` makes the sources longer. */
export function sampleRubric(nonce: string, sample: number, repeats = 1): RubricRequest {
  return {
    kind: 'rubric',
    question: `How does a lighthouse make itself known? (${nonce})`,
    sources: sources(nonce, repeats),
    criteria: [
      { description: 'Says what the lens does.' },
      { description: 'Says what the character of a light is for.' },
      { description: 'Claims something that no source supports.' },
    ],
    answer: `Answer ${sample}. A Fresnel lens makes a beam, and each light flashes in a rhythm of its own.`,
  };
}

export function sampleCitations(nonce: string): CitationsRequest {
  return {
    kind: 'citations',
    question: `How does a lighthouse make itself known? (${nonce})`,
    sources: sources(nonce, 1),
    claims: [
      { claim: 0, text: 'A Fresnel lens bends the light into a flat beam.', sources: [0] },
      { claim: 1, text: 'Clockwork turned the lens, and charts print its rhythm.', sources: [1, 2] },
    ],
    statements: [{ statement: 0, text: 'Most lighthouses were built in the last century.' }],
  };
}
