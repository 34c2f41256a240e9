/**
 * Templates of the rubric's prompt. A template is a text with placeholders: each becomes the data blocks of that part,
 * so the text of a rollout is data whatever the template says. What a reply looks like is not the template's to say.
 */
import { neutraliseControlTokens } from '../../text/untrusted.ts';

/**
 * How a judge answers for each criterion. `score`: 0, 1 or 2. `met`: true or false, which count as 2 and 0.
 */
export type CriterionReply = 'score' | 'met';

/** A template of a recipe's own. */
export type OwnTemplate = { readonly text: string; readonly reply: CriterionReply };

/** The parts of a rollout that a template shows, each at most once; the others must occur, `{sources}` may. */
const PLACEHOLDERS = ['question', 'sources', 'criteria', 'answer'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

const PLACEHOLDER = /\{([a-z_]+)\}/g;

/** The problems of a template's text, each with what to do; empty = it can be used. */
export function templateProblems(text: string): readonly string[] {
  const found = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  const unknown = [...new Set(found.filter((name) => !isPlaceholder(name)))];
  const repeated = PLACEHOLDERS.filter((name) => found.filter((one) => one === name).length > 1);
  const missing = PLACEHOLDERS.filter((name) => name !== 'sources' && !found.includes(name));
  const known = PLACEHOLDERS.map((name) => `{${name}}`).join(', ');
  return [
    ...unknown.map((name) => `the placeholder {${name}} is unknown; there are ${known}`),
    ...missing.map((name) => `the placeholder {${name}} is missing`),
    ...repeated.map((name) => `the placeholder {${name}} occurs more than once`),
    ...(missing.length === 0 && found.at(-1) !== 'answer'
      ? ['the placeholder {answer} must be the last, so that the samples of a group share the prompt before it']
      : []),
    ...(neutraliseControlTokens(text) === text ? [] : ['it contains a control token of a chat template; leave it out']),
  ];
}

/** Whether prompts of the template show the sources. */
export function showsSources({ text }: OwnTemplate): boolean {
  return text.includes('{sources}');
}

/** The text with the parts in place of its placeholders. What a part contains is not searched for placeholders. */
export function filledTemplate({ text }: OwnTemplate, parts: Readonly<Record<Placeholder, string>>): string {
  return text.replace(PLACEHOLDER, (all, name: string) => (isPlaceholder(name) ? parts[name] : all));
}

function isPlaceholder(name: string): name is Placeholder {
  return PLACEHOLDERS.some((one) => one === name);
}
