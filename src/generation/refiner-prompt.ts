/**
 * The prompt of a research refiner: question, the agent's reasoning and raw tool output in, an answer in the refiners'
 * format asked for. The format and the budget (6,144 tokens of prompt, 1,024 of response) are the cards'; the wording is
 * ours, as the training prompt is not published. Tool output that does not fit is cut at its end, and the cut is said.
 */

import { parseSources, sourcesFromList } from '../citations/sources.ts';
import type { Source } from '../citations/types.ts';
import type { SourceInput } from '../family/rollout.ts';
import type { InputProblem } from '../input-problem.ts';
import { estimateTokens } from '../judgments/protocol/budget.ts';
import { trimSpan } from '../text/span.ts';

export type RefinerPromptInput = {
  readonly question: string;
  /** The agent's reasoning so far. */
  readonly reasoning?: string;
  readonly tool_output: string;
  /** `answer_only`: nothing but the answer block. `full`: thinking may precede it. */
  readonly mode: 'answer_only' | 'full';
  /** Tokens that the prompt may take. */
  readonly prompt_tokens: number;
};

export type RefinerPrompt = {
  readonly messages: readonly [
    { readonly role: 'system'; readonly content: string },
    { readonly role: 'user'; readonly content: string },
  ];
  /** The tool output as the policy sees it: what its answer may cite. */
  readonly tool_output: string;
  /** What was cut off the end of the tool output; `null` = nothing. UTF-16 code units. */
  readonly cut: { readonly kept_chars: number; readonly chars: number } | null;
};

/** Tokens of prompt and of response in the refiners' training [card]. */
export const REFINER_PROMPT_TOKENS = 6_144;
export const REFINER_RESPONSE_TOKENS = 1_024;

const FORMAT = [
  'You refine the raw output of a search tool into a concise answer that is grounded in it.',
  'Write one <answer>…</answer> block. Wrap every factual claim in <snippet id=ID1,ID2>claim</snippet>, citing only ids that',
  'occur in the tool output, and only those that support the claim. Say nothing that the tool output does not support; if',
  'it does not answer the question, say so.',
].join(' ');

const MODES: Readonly<Record<RefinerPromptInput['mode'], string>> = {
  answer_only: 'Write nothing before or after the answer block.',
  full: 'You may think before it, inside <think>…</think>.',
};

/** Chat template and labels around the texts. */
const FRAME_TOKENS = 64;

export type RefinerPromptResult =
  | { readonly ok: true; readonly prompt: RefinerPrompt }
  /** Not even question and reasoning fit. */
  | { readonly ok: false; readonly needed_tokens: number };

/** Tokens are estimated from above, as there is no tokenizer at the edge (judgments/budget.ts). */
export function refinerPrompt(input: RefinerPromptInput): RefinerPromptResult {
  const { question, reasoning, tool_output, mode, prompt_tokens } = input;
  const system = `${FORMAT} ${MODES[mode]}`;
  const parts = [`Question:\n${question}`, ...(reasoning === undefined ? [] : [`Reasoning so far:\n${reasoning}`])];
  const fixed = FRAME_TOKENS + estimateTokens(system) + parts.reduce((sum, part) => sum + estimateTokens(part), 0);
  const left = prompt_tokens - fixed;
  if (left <= 0) return { ok: false, needed_tokens: fixed + 1 };
  const kept = unitsWithin(tool_output, left);
  const seen = tool_output.slice(0, kept);
  const user = [...parts, `Tool output:\n${seen}`].join('\n\n');
  return {
    ok: true,
    prompt: {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
      tool_output: seen,
      cut: kept === tool_output.length ? null : { kept_chars: kept, chars: tool_output.length },
    },
  };
}

/**
 * Code units from the beginning that fit into so many tokens: whole lines where there are some, never half a surrogate
 * pair. A piece that is cut in its middle keeps its id, as the policy saw that much of it.
 */
function unitsWithin(text: string, tokens: number): number {
  if (estimateTokens(text) <= tokens) return text.length;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (estimateTokens(text.slice(0, middle)) <= tokens) low = middle;
    else high = middle - 1;
  }
  const line = text.lastIndexOf('\n', low - 1);
  const kept = line > low / 2 ? line : low;
  const last = text.charCodeAt(kept - 1);
  return kept > 0 && last >= 0xd800 && last <= 0xdbff ? kept - 1 : kept;
}

export type TaggedSources =
  | { readonly ok: true; readonly tool_output: string }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** `<snippet id=ID title="…" url="…">text</snippet>`, one after the other. Problems name `sources[i]`. */
export function taggedSources(sources: readonly SourceInput[]): TaggedSources {
  const problems = sources.flatMap((source, position): InputProblem[] =>
    comesBack(source) ? [] : [{ path: ['sources', position], message: UNTAGGABLE }],
  );
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, tool_output: sources.map(tagged).join('\n') };
}

const UNTAGGABLE =
  'it cannot be written as a tagged piece: its text holds source tags, or an attribute both quotation marks';

function comesBack(source: SourceInput): boolean {
  const [wanted] = sourcesFromList([source]).list;
  const read = parseSources(tagged(source)).list;
  const [first] = read;
  return read.length === 1 && first !== undefined && wanted !== undefined && isSame(first, wanted);
}

function isSame(read: Source, wanted: Source): boolean {
  const { start, end } = trimSpan(wanted.text, 0, wanted.text.length);
  const isWhole = read.id === wanted.id && read.text === wanted.text.slice(start, end);
  return isWhole && read.title === wanted.title && read.url === wanted.url;
}

/** Ids that can stand without quotation marks, as refiners were trained to see them. */
const PLAIN_ID = /^[\w.:-]+$/u;

function tagged({ id, text, title, url }: SourceInput): string {
  const attributes = [
    `id=${PLAIN_ID.test(id) ? id : quoted(id)}`,
    ...(title === undefined ? [] : [`title=${quoted(title)}`]),
    ...(url === undefined ? [] : [`url=${quoted(url)}`]),
  ];
  return `<snippet ${attributes.join(' ')}>${text}</snippet>`;
}

function quoted(value: string): string {
  return value.includes('"') ? `'${value}'` : `"${value}"`;
}
