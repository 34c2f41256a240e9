/** Sends an answer to the code behind POST /v1/verify and shortens the reply. */
import type { AnswerFinding } from '../../src/citations/formats/answer-findings.ts';
import type { AnswerFormatName } from '../../src/citations/formats/names.ts';
import { type CitedAnswer, readCitedAnswer } from '../../src/citations/formats/read-answer.ts';
import { parseResponse } from '../../src/citations/parse.ts';
import { type SourceInput, sourcesFromList } from '../../src/citations/sources.ts';

type ReadAnswer = {
  readonly format: AnswerFormatName;
  /** Texts of the claims. */
  readonly claims: readonly string[];
  /** The vendor's text at the place of each claim. */
  readonly slices: readonly string[];
  /** Ids of each claim, as the sources have them; `null` = invented. */
  readonly ids: readonly (readonly (string | null)[])[];
  readonly sources: readonly SourceInput[];
  readonly findings: readonly AnswerFinding[];
  readonly converted: CitedAnswer;
};

/** Reads an answer as it would arrive: as JSON. @throws Error if it is refused. */
export function read(answer: unknown, given: readonly SourceInput[] | null = null): ReadAnswer {
  const sent: unknown = JSON.parse(JSON.stringify(answer));
  const converted = readCitedAnswer(sent, undefined, given === null ? null : sourcesFromList(given));
  if (!converted.ok) throw new Error(JSON.stringify(converted.error));
  const { response, map, text, format, findings } = converted.value;
  const sources = converted.value.sources ?? given ?? [];
  const set = sourcesFromList(sources);
  const { claims } = parseResponse(response, set);
  return {
    format,
    claims: claims.map((claim) => claim.text),
    slices: claims.map(({ span }) => text.slice(map.at(span.start), map.at(span.end))),
    ids: claims.map(({ ids }) => ids.map(({ source }) => (source === null ? null : (set.list[source]?.id ?? null)))),
    sources,
    findings,
    converted: converted.value,
  };
}
