/**
 * Reads recorded replies of the reference's judges like rlresearch/dr-tulu 6188f34c (`citation_utils.py`,
 * `run_utils.py`): an unreadable reply and a failed call count as 0. Everywhere else a failed judgment is `null`.
 */

import { isJsonObject, type JsonObject, parsedJson } from '../../../json.ts';
import { pythonFloat, stripPythonSpace } from '../../../text/python-text.ts';
import type { ClaimAnswer, ClaimQuestion } from './citation-score.ts';

/** The text of a recorded reply; `null` = the judge call failed. */
export type RecordedReply = string | null;

/** The three prompts of the citation judge. */
export type CitationPrompt = 'recall' | 'precision' | 'needs_citation';

/** The prompts that the reference sends for a question, in order. */
export function promptsFor(question: ClaimQuestion): readonly CitationPrompt[] {
  switch (question.kind) {
    case 'cited':
      return ['recall', 'precision'];
    case 'uncited':
      return ['needs_citation'];
  }
}

const SUPPORT: ReadonlyMap<string, number> = new Map([
  ['fully supported', 1],
  ['partially supported', 0.5],
]);
const RELEVANCE: ReadonlyMap<string, number> = new Map([['relevant', 1]]);
const NEED: ReadonlyMap<string, number> = new Map([['yes', 1]]);

/**
 * Returns the answer in the recorded replies to a question. Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - a failed call and an unknown rating are 0: no support, irrelevant, and no citation needed, which pays in full;
 * - the rating extends to the last `]]` of its line, so later brackets make it unreadable.
 */
export function readClaimAnswer(
  question: ClaimQuestion,
  replyTo: (prompt: CitationPrompt) => RecordedReply,
): ClaimAnswer {
  switch (question.kind) {
    case 'cited':
      return {
        kind: 'cited',
        support: rated(replyTo('recall'), 'Rating: [[', SUPPORT),
        relevance: rated(replyTo('precision'), 'Rating: [[', RELEVANCE),
      };
    case 'uncited':
      return { kind: 'uncited', needsCitation: rated(replyTo('needs_citation'), 'Need Citation: [[', NEED) };
  }
}

function rated(reply: RecordedReply, label: string, ratings: ReadonlyMap<string, number>): number {
  return ratings.get(stripPythonSpace(bracketed(reply ?? '', label)).toLowerCase()) ?? 0;
}

/** Returns the text between the first `label` that has a `]]` on its line and the last such `]]`; empty without one. */
function bracketed(reply: string, label: string): string {
  for (const line of reply.split('\n')) {
    const at = line.indexOf(label);
    if (at === -1) continue;
    const start = at + label.length;
    const end = line.lastIndexOf(']]');
    if (end >= start) return line.slice(start, end);
  }
  return '';
}

/**
 * The score in a rubric judge's reply, on the judge's scale: member `score` of the JSON object from the first `{` to
 * the last `}`, or else of the last object without inner braces. Numbers, `true` and decimal texts are scores. Source:
 * rlresearch/dr-tulu 6188f34c. Defects kept:
 * - a missing object, a missing score, and a score that is not a number are 0, so a negative rubric fails open;
 * - a score outside the scale is kept. Python's `NaN` and `Infinity` are invalid JSON here and also 0: a reward is
 *   finite.
 */
export function readCriterionScore(reply: RecordedReply): number {
  const text = reply ?? '';
  const object = parseObject(outermostObject(text)) ?? parseObject(lastFlatObject(text));
  if (object === null || !Object.hasOwn(object, 'score')) return 0;
  return toFloat(object['score']) ?? 0;
}

function outermostObject(text: string): string {
  const open = text.indexOf('{');
  return open === -1 ? '' : text.slice(open, text.lastIndexOf('}') + 1);
}

/** The last `{…}` without inner braces. */
function lastFlatObject(text: string): string {
  let close = -1;
  for (let at = text.length - 1; at >= 0; at--) {
    const unit = text.charAt(at);
    if (unit === '}') close = at;
    else if (unit === '{' && close !== -1) return text.slice(at, close + 1);
  }
  return '';
}

function parseObject(text: string): JsonObject | null {
  const value = parsedJson(text);
  return isJsonObject(value) ? value : null;
}

function toFloat(value: unknown): number | null {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      return value ? 1 : 0;
    case 'string':
      return pythonFloat(value);
    default:
      return null;
  }
}
