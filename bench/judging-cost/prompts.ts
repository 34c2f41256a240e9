/**
 * The prompts of joint and of separate judging, in the order in which they are sent. Joint prompts are Citeward's own.
 * Separate prompts have dr-tulu's shape: one call per criterion with question and answer; two per cited claim (support
 * and relevance) with the cited text; one per uncited statement. Shared text comes first, and the instructions are
 * shorter than dr-tulu's few-shot instructions, so that the comparison does not favour joint judging.
 */

import type { ReadingRequest } from '../../src/judgments/kinds/registry.ts';
import { judgePrompt } from '../../src/judgments/model-judge.ts';
import type { SampleRequests } from './group.ts';

/** All messages of one call as one text, without the constant text of a chat template. */
export type Prompt = string;

const BETWEEN_MESSAGES = '\n\u0000\n';

export function jointPrompts(group: readonly SampleRequests[]): Prompt[] {
  return group.flatMap(({ rubric, citations }) => [promptOf(rubric), promptOf(citations)]);
}

function promptOf(request: ReadingRequest): Prompt {
  return judgePrompt(request)
    .messages.map(({ content }) => content)
    .join(BETWEEN_MESSAGES);
}

const INSTRUCTIONS = {
  criterion:
    'You grade an answer to a question against one criterion. Score 2 if the answer meets it completely, 1 if in part, ' +
    '0 if not at all. Reply with JSON: {"score": x}.',
  support:
    'You are given a question, a statement from an answer to it, and the text that the statement cites. Say whether the ' +
    'text supports the statement: [[Fully supported]], [[Partially supported]] or [[No support]]. Explain, then rate.',
  relevance:
    'You are given a question, a statement from an answer to it, and the text that the statement cites. Say whether the ' +
    'text is relevant to the statement: [[Relevant]] or [[Unrelevant]]. Explain, then rate.',
  need:
    'You are given a question and a statement from an answer to it. Say whether the statement needs a citation: [[Yes]] ' +
    'or [[No]]. Explain, then rate.',
} as const;

export function separatePrompts(group: readonly SampleRequests[]): Prompt[] {
  return group.flatMap(({ rubric, citations }) => {
    const { question, sources } = citations;
    const prompts = rubric.criteria.map(({ title, description }) =>
      [
        INSTRUCTIONS.criterion,
        block('question', question),
        block('response', rubric.answer),
        block('criterion', `${title ?? ''} ${description}`),
      ].join('\n'),
    );
    for (const { text, sources: cited } of citations.claims) {
      const passages = cited.map((position) => sources[position]?.text ?? '').join('\n');
      for (const instruction of [INSTRUCTIONS.support, INSTRUCTIONS.relevance]) {
        prompts.push(
          [instruction, block('question', question), block('statement', text), block('snippet', passages)].join('\n'),
        );
      }
    }
    for (const { text } of citations.statements) {
      prompts.push([INSTRUCTIONS.need, block('question', question), block('statement', text)].join('\n'));
    }
    return prompts;
  });
}

function block(name: string, text: string): string {
  return `<${name}>\n${text}\n</${name}>`;
}
