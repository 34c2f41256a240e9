/** Converts a vendor's cited answer to a response and sources that every route reads. Pure, linear, never throws. */

import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject, parsedJson } from '../../json.ts';
import type { Result } from '../../result.ts';
import type { SourceInput } from '../sources.ts';
import type { SourceSet } from '../types.ts';
import { aiSdk } from './ai-sdk.ts';
import type { AnswerFinding } from './answer-findings.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { cohere } from './cohere.ts';
import { AnswerDraft } from './draft.ts';
import type { AnswerFormat } from './format.ts';
import { gemini } from './gemini.ts';
import { citingMembers } from './left-over.ts';
import { markdown } from './markdown.ts';
import { mistral } from './mistral.ts';
import { ANSWER_FORMATS, type AnswerFormatName } from './names.ts';
import { openai } from './openai.ts';
import { perplexity } from './perplexity.ts';
import type { TextMap } from './text-map.ts';

const FORMATS: Readonly<Record<AnswerFormatName, AnswerFormat>> = {
  anthropic,
  openai,
  gemini,
  cohere,
  bedrock,
  mistral,
  'ai-sdk': aiSdk,
  perplexity,
  markdown,
};

/** A converted answer. */
export type CitedAnswer = {
  readonly format: AnswerFormatName;
  /** The vendor's text: its text blocks, joined without a separator. */
  readonly text: string;
  /** The same answer in the grammar `snippet`, in an `<answer>`. */
  readonly response: string;
  /** The sources that the answer carries; `null` if the request gives the sources. */
  readonly sources: readonly SourceInput[] | null;
  /** Maps offsets of `response` to `text`. */
  readonly map: TextMap;
  readonly findings: readonly AnswerFinding[];
  readonly finding_count: number;
};

/**
 * Converts an answer.
 *
 * @param format the vendor's format; default: the first that fits.
 * @param given the sources of the request; `null` = the texts that the answer carries are the sources.
 * @example
 * const answer = [{ type: 'text', text: 'It opened in 1937.', citations: [
 *   { type: 'web_search_result_location', url: 'https://bridge.example', title: 'Bridge', cited_text: 'opened in 1937' },
 * ] }];
 * readCitedAnswer(answer, undefined, null).value.response;
 * // '<answer><snippet id="https://bridge.example">It opened in 1937.</snippet></answer>'
 */
export function readCitedAnswer(
  answer: unknown,
  format: AnswerFormatName | undefined,
  given: SourceSet | null,
): Result<CitedAnswer, readonly InputProblem[]> {
  const name = format ?? formatOf(answer);
  // A client may send the answer of a vendor as a string of JSON: parse it.
  const json = typeof answer === 'string' ? jsonTextOf(answer) : null;
  const events = typeof answer === 'string' ? eventsOf(answer) : null;
  const written = events ?? (json === null ? null : parsedJson(json));
  const writtenFormat = typeof written === 'object' ? formatOf(written) : undefined;
  if (writtenFormat !== undefined && (format ?? writtenFormat) === writtenFormat) {
    return readCitedAnswer(written, writtenFormat, given);
  }
  if (events !== null && format === undefined)
    return refused('a stream of events that is no answer of a known format: send the assembled message');
  if (typeof answer === 'string' && CUT_OFF.test(answer) && typeof written !== 'object' && format === undefined)
    return refused('a text that begins as JSON and is none: perhaps its end is missing');
  if (name === undefined) {
    const known = ANSWER_FORMATS.join(', ');
    const [member] = isJsonObject(answer) ? citingMembers(answer) : [];
    if (member !== undefined) {
      return refused(`no known format has its citations in "${member}" in this way; the formats are ${known}`);
    }
    return refused(`no known format: send the vendor's answer unchanged, and name it in answer_format (${known})`);
  }
  const draft = new AnswerDraft(given);
  const isRead = FORMATS[name].read(answer, draft);
  if (draft.problems.length > 0) {
    return { ok: false, error: draft.problems.map(({ path, message }) => ({ path: [FIELD, ...path], message })) };
  }
  if (!isRead) return refused(`expected ${FORMATS[name].expected}, with text, for answer_format ${name}`);
  const { text, response, map } = draft.finish();
  const sources = draft.sources.finish();
  for (const source of sources ?? []) {
    if (source.text === '') draft.findings.add({ reason: 'source_without_text', path: [] });
  }
  const { list, count } = draft.findings;
  return { ok: true, value: { format: name, text, response, sources, map, findings: list, finding_count: count } };
}

/** The text of a JSON value without what people send around it: white space, a byte order mark, a fence; `null` = none. */
function jsonTextOf(text: string): string | null {
  const trimmed = text.trim();
  const isFenced = trimmed.startsWith('```') && trimmed.endsWith('```');
  const bare = isFenced ? trimmed.slice(trimmed.indexOf('\n') + 1, -FENCE_UNITS).trim() : trimmed;
  return bare.startsWith('[') || bare.startsWith('{') ? bare : null;
}

const FENCE_UNITS = 3;

/** The beginning of a vendor's answer as JSON. If the text is no JSON, its end is missing. */
const CUT_OFF =
  /^\s{0,8}\{\s{0,8}"(?:id|type|role|object|model|content|candidates|choices|message|output|response)"\s{0,8}:/;

/** The data of a recorded stream of events; `null` = the text is none. */
function eventsOf(text: string): readonly unknown[] | null {
  if (!EVENT.test(text)) return null;
  const events = text.split('\n').flatMap((line) => (line.startsWith('data:') ? [parsedJson(line.slice(5))] : []));
  return events.some(isJsonObject) ? events.filter(isJsonObject) : null;
}

const EVENT = /^\s{0,8}(?:data: ?\{|event: ?[\w.]{1,64}\r?\ndata:)/;

function formatOf(answer: unknown): AnswerFormatName | undefined {
  return ANSWER_FORMATS.find((one) => FORMATS[one].detects(answer));
}

/** The field of requests that holds the answer. */
const FIELD = 'cited_answer';

function refused(message: string): Result<never, readonly InputProblem[]> {
  return { ok: false, error: [{ path: [FIELD], message }] };
}
