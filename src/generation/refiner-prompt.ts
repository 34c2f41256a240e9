/**
 * Builds the prompt of a research refiner from a question, the agent's reasoning and raw tool output. Format and budget
 * (6,144 prompt tokens, 1,024 response tokens) come from the model cards; the wording is Citeward's own, because the
 * training prompt is unpublished. Tool output beyond the budget is cut at its end, and the result reports the cut.
 *
 * The tags of sources stay as they are, because the policy was trained to read and cite them. Control tokens of chat
 * templates in the texts, which a model server would act upon, are replaced (untrusted.ts).
 */
import { parseSources, type SourceInput, sourcesFromList } from '../citations/sources.ts';
import type { Source } from '../citations/types.ts';
import type { InputProblem } from '../input-problem.ts';
import { estimateTokens, unitsWithin } from '../judgments/protocol/token-estimate.ts';
import type { Result } from '../result.ts';
import { trimSpan } from '../text/span.ts';
import { neutraliseControlTokens } from '../text/untrusted.ts';

/** The citation syntax that the prompt asks for. */
export const PROMPTED_GRAMMAR = 'snippet';

type RefinerPromptInput = {
  readonly question: string;
  /** The agent's reasoning so far. */
  readonly reasoning?: string;
  readonly tool_output: string;
  /** `answer_only`: the policy writes the answer block alone. `full`: it may think before. */
  readonly mode: 'answer_only' | 'full';
  /** Token budget of the prompt. */
  readonly prompt_tokens: number;
};

export type RefinerPrompt = {
  readonly messages: readonly [
    { readonly role: 'system'; readonly content: string },
    { readonly role: 'user'; readonly content: string },
  ];
  /** The tool output after the cut: what the answer can cite. */
  readonly tool_output: string;
  /** Length kept and length given, in UTF-16 code units; `null` = nothing was cut. */
  readonly cut: { readonly kept_chars: number; readonly chars: number } | null;
};

/** Prompt and response lengths of the refiners' training, in tokens [card]. */
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

/** Allowance for the chat template and the labels around the texts, in tokens. */
const FRAME_TOKENS = 64;

/**
 * Builds the prompt. The error is the needed number of tokens, if question and reasoning alone exceed the budget. Token
 * counts are upper estimates (src/judgments/protocol/budget.ts), because the edge has no tokenizer.
 */
export function refinerPrompt(input: RefinerPromptInput): Result<RefinerPrompt, number> {
  const { question, reasoning, tool_output, mode, prompt_tokens } = input;
  const system = `${FORMAT} ${MODES[mode]}`;
  const texts = [`Question:\n${question}`, ...(reasoning === undefined ? [] : [`Reasoning so far:\n${reasoning}`])];
  const parts = texts.map(neutraliseControlTokens);
  const fixed = FRAME_TOKENS + estimateTokens(system) + parts.reduce((sum, part) => sum + estimateTokens(part), 0);
  const left = prompt_tokens - fixed;
  if (left <= 0) return { ok: false, error: fixed + 1 };
  // Equal in length to the tool output, so the cut and all offsets apply to both.
  const shown = neutraliseControlTokens(tool_output);
  const kept = prefixWithin(shown, left);
  const user = [...parts, `Tool output:\n${shown.slice(0, kept)}`].join('\n\n');
  return {
    ok: true,
    value: {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
      tool_output: tool_output.slice(0, kept),
      cut: kept === tool_output.length ? null : { kept_chars: kept, chars: tool_output.length },
    },
  };
}

/**
 * Length of the longest prefix within a token budget, in code units. The prefix ends at a line break where one is near,
 * and never inside a surrogate pair. A piece that is cut in the middle keeps its id, because the policy saw its
 * beginning.
 */
function prefixWithin(text: string, tokens: number): number {
  const most = unitsWithin(text, tokens);
  if (most === text.length) return most;
  const line = text.lastIndexOf('\n', most - 1);
  return line > most / 2 ? line : most;
}

/**
 * Writes sources as the tagged text that a refiner reads: `<snippet id=ID title="…" url="…">text</snippet>`, one per
 * line. The parser must read back what was written. A source that it would read differently (source tags in the text,
 * both kinds of quotation marks in an attribute) is refused with a problem at `sources[i]`.
 */
export function taggedSources(sources: readonly SourceInput[]): Result<string, readonly InputProblem[]> {
  const problems = sources.flatMap((source, position): InputProblem[] =>
    comesBack(source) ? [] : [{ path: ['sources', position], message: UNTAGGABLE }],
  );
  if (problems.length > 0) return { ok: false, error: problems };
  return { ok: true, value: sources.map(tagged).join('\n') };
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

/** Ids that are written without quotation marks, as in the refiners' training data. */
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
