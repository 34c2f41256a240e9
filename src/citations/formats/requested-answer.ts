/** The cited answer of a request: converted once for each value and set of sources. */
import type { InputProblem } from '../../input-problem.ts';
import type { Result } from '../../result.ts';
import { type SourceInput, sourcesOf } from '../sources.ts';
import type { AnswerFormatName } from './names.ts';
import { type CitedAnswer, readCitedAnswer } from './read-answer.ts';

/** The fields of a request that hold a cited answer and its sources. */
export type AnswerFields = {
  readonly cited_answer?: unknown;
  readonly answer_format?: AnswerFormatName;
  readonly tool_output?: string;
  readonly sources?: readonly SourceInput[];
};

type Reading = Result<CitedAnswer, readonly InputProblem[]>;

const readings = new WeakMap<object, { readonly fields: AnswerFields; readonly reading: Reading }>();

/** The answers whose own texts are the sources, by the list of these sources. */
const carriers = new WeakMap<readonly SourceInput[], Reading>();

/** Converts the cited answer of a request; `null` if the request has none. */
export function requestedAnswer(fields: AnswerFields): Reading | null {
  const { cited_answer: answer, answer_format: format, tool_output, sources } = fields;
  if (answer === undefined) return null;
  const carried = sources === undefined ? undefined : carriers.get(sources);
  if (carried !== undefined) return carried;
  const isKept = typeof answer === 'object' && answer !== null;
  const known = isKept ? readings.get(answer) : undefined;
  if (known !== undefined && isSameRequest(known.fields, fields)) return known.reading;
  const origin = tool_output === undefined ? (sources === undefined ? null : { sources }) : { tool_output };
  const reading = readCitedAnswer(answer, format, origin === null ? null : sourcesOf(origin));
  if (reading.ok && reading.value.sources !== null) carriers.set(reading.value.sources, reading);
  if (isKept) readings.set(answer, { fields, reading });
  return reading;
}

function isSameRequest(a: AnswerFields, b: AnswerFields): boolean {
  return a.answer_format === b.answer_format && a.tool_output === b.tool_output && a.sources === b.sources;
}

/** The converted answer of validated fields; `null` if there is none. @throws Error if the fields were not validated. */
export function validatedAnswer(fields: AnswerFields): CitedAnswer | null {
  const reading = requestedAnswer(fields);
  if (reading === null) return null;
  if (!reading.ok) throw new Error('validatedAnswer: an answer that cannot be converted, after validation');
  return reading.value;
}
