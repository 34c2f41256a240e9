/**
 * Converts offsets from UTF-16 code units, the default in replies, to UTF-8 bytes or to code points, which index a
 * Python string. A lone surrogate counts as U+FFFD, which encoders write in its place: three bytes, one code point.
 */

import type { SourceSpan } from '../lexical/index.ts';
import { isHighSurrogate, isLowSurrogate } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import type { Finding } from './types.ts';
import type { Verification } from './verify.ts';

/** The units that a request can ask for, default first. */
export const OFFSET_UNITS = ['utf16', 'utf8', 'codepoints'] as const;

/** A unit of offsets: UTF-16 code units (JavaScript), UTF-8 bytes, or code points (Python). */
export type OffsetUnit = (typeof OFFSET_UNITS)[number];

/** The strings that the spans of a verification refer to. */
export type SpannedStrings = {
  readonly response: string;
  /** For a converted answer: the vendor's text, and the way back to it. Spans in `response` then point into that text. */
  readonly original?: { readonly text: string; readonly map: { at(offset: number): number } };
  /** The raw tool output; absent if the sources were given as a list. */
  readonly tool_output?: string;
  /** Text of each source, in the order of `verification.sources`. */
  readonly sources: readonly string[];
};

/**
 * Returns a verification with every span in another unit. Takes time linear in the strings.
 *
 * @throws RangeError if a span lies outside its string, or a finding refers to a source that is not in `strings`.
 * @example
 * const response = '<answer>Zürich: <snippet id=S1>a city.</snippet></answer>';
 * const verification = verifyCitations({ response, sources: [{ id: 'S1', text: 'Zürich' }] }, { evidence: 'none' });
 * verification.claims[0]?.span; // { start: 31, end: 38 }
 * withOffsets('utf8', verification, { response, sources: ['Zürich'] }).claims[0]?.span; // { start: 32, end: 39 }
 */
export function withOffsets(unit: OffsetUnit, verification: Verification, strings: SpannedStrings): Verification {
  if (unit === 'utf16' && strings.original === undefined) return verification;
  const { response, toolOutput, sources, inString } = offsetsOf(unit, strings);
  const inSource = (span: SourceSpan): SourceSpan => {
    const offsets = sources[span.source];
    return offsets === undefined ? span : { source: span.source, ...offsets.span(span) };
  };
  return {
    ...verification,
    answer: verification.answer === null ? null : response.span(verification.answer),
    claims: verification.claims.map((claim) => ({
      ...claim,
      span: response.span(claim.span),
      element: response.span(claim.element),
      ids: claim.ids.map((id) => ({ ...id, span: response.span(id.span) })),
      ...(claim.evidence === undefined
        ? {}
        : {
            evidence: {
              ...claim.evidence,
              window: claim.evidence.window === null ? null : inSource(claim.evidence.window),
              verbatim: claim.evidence.verbatim.map(inSource),
            },
          }),
    })),
    statements: verification.statements.map((statement) => ({
      ...statement,
      pieces: statement.pieces.map((piece) => response.span(piece)),
    })),
    findings: verification.findings.map(inString),
    sources: verification.sources.map((source) => ({
      ...source,
      span: source.span === null ? null : toolOutput.span(source.span),
    })),
  };
}

/** Converts the spans of a reply, by the string that each refers to. */
export type ReplyOffsets = {
  readonly response: Offsets;
  readonly toolOutput: Offsets;
  readonly sources: readonly Offsets[];
  /** Converts the span of a finding, which names its string. */
  inString(finding: Finding): Finding;
};

/** Prepares the conversion of spans in these strings. */
export function offsetsOf(unit: OffsetUnit, strings: SpannedStrings): ReplyOffsets {
  const { original } = strings;
  const response =
    original === undefined ? new Offsets(strings.response, unit) : new Offsets(original.text, unit, original.map);
  const toolOutput = new Offsets(strings.tool_output ?? '', unit);
  const sources = strings.sources.map((text) => new Offsets(text, unit));
  const stringOf = (finding: Finding): Offsets => {
    switch (finding.in) {
      case 'response':
        return response;
      case 'tool_output':
        return toolOutput;
      case 'sources': {
        const offsets = finding.source === undefined ? undefined : sources[finding.source];
        if (offsets === undefined) throw new RangeError('offsetsOf: a finding in a source that is not in the strings');
        return offsets;
      }
    }
  };
  const inString = (finding: Finding): Finding => ({ ...finding, span: stringOf(finding).span(finding.span) });
  return { response, toolOutput, sources, inString };
}

/** Maps UTF-16 offsets of a text to another unit. The table is built on first use. */
export class Offsets {
  readonly #text: string;
  readonly #unit: OffsetUnit;
  readonly #map: { at(offset: number): number } | null;
  #table: Uint32Array | null = null;

  /** @param map applied to each offset before it is converted. */
  constructor(text: string, unit: OffsetUnit, map: { at(offset: number): number } | null = null) {
    this.#text = text;
    this.#unit = unit;
    this.#map = map;
  }

  span({ start, end }: Span): Span {
    return { start: this.at(start), end: this.at(end) };
  }

  /** @throws RangeError if the offset is outside the text. */
  at(offset: number): number {
    return this.#inUnit(this.#map === null ? offset : this.#map.at(offset));
  }

  #inUnit(offset: number): number {
    if (this.#unit === 'utf16') return offset;
    this.#table ??= tableOf(this.#text, this.#unit === 'utf8');
    const converted = this.#table[offset];
    if (converted === undefined) throw new RangeError(`offset ${offset} is outside the string`);
    return converted;
  }
}

/** The converted offset of each UTF-16 offset: bytes, or code points. */
function tableOf(text: string, inBytes: boolean): Uint32Array {
  const table = new Uint32Array(text.length + 1);
  let total = 0;
  for (let i = 0; i < text.length; i++) {
    table[i] = total;
    const code = text.charCodeAt(i);
    if (isHighSurrogate(code) && isLowSurrogate(text.charCodeAt(i + 1))) {
      // An offset between the halves of a pair becomes the offset after it.
      total += inBytes ? 4 : 1;
      i++;
      table[i] = total;
    } else if (!inBytes || code < 0x80) total += 1;
    else total += code < 0x800 ? 2 : 3;
  }
  table[text.length] = total;
  return table;
}
