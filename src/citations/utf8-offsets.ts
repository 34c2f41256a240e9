/**
 * Converts offsets from UTF-16 code units, the default in replies, to UTF-8 bytes (`?offsets=utf8`). A lone surrogate
 * counts as the three bytes of U+FFFD, which encoders write in its place.
 */

import type { SourceSpan } from '../lexical/index.ts';
import { isHighSurrogate, isLowSurrogate } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import type { Finding } from './types.ts';
import type { Verification } from './verify.ts';

/** The strings that the spans of a verification refer to. */
type SpannedStrings = {
  readonly response: string;
  /** The raw tool output; absent if the sources were given as a list. */
  readonly tool_output?: string;
  /** Text of each source, in the order of `verification.sources`. */
  readonly sources: readonly string[];
};

/**
 * Returns a copy of a verification with every span in UTF-8 bytes. Takes time linear in the strings.
 *
 * @throws RangeError if a span lies outside its string, or a finding refers to a source that is not in `strings`.
 * @example
 * const response = '<answer>Zürich: <snippet id=S1>a city.</snippet></answer>';
 * const verification = verifyCitations({ response, sources: [{ id: 'S1', text: 'Zürich' }] }, { evidence: 'none' });
 * verification.claims[0]?.span; // { start: 31, end: 38 }
 * toUtf8Offsets(verification, { response, sources: ['Zürich'] }).claims[0]?.span; // { start: 32, end: 39 }
 */
export function toUtf8Offsets(verification: Verification, strings: SpannedStrings): Verification {
  const response = new ByteOffsets(strings.response);
  const toolOutput = new ByteOffsets(strings.tool_output ?? '');
  const sources = strings.sources.map((text) => new ByteOffsets(text));
  const inSource = (span: SourceSpan): SourceSpan => {
    const offsets = sources[span.source];
    return offsets === undefined ? span : { source: span.source, ...offsets.span(span) };
  };
  const inString = (finding: Finding): ByteOffsets => {
    switch (finding.in) {
      case 'response':
        return response;
      case 'tool_output':
        return toolOutput;
      case 'sources': {
        const offsets = finding.source === undefined ? undefined : sources[finding.source];
        if (offsets === undefined)
          throw new RangeError('toUtf8Offsets: a finding refers to a source that is not in strings.sources');
        return offsets;
      }
    }
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
    findings: verification.findings.map((finding) => ({ ...finding, span: inString(finding).span(finding.span) })),
    sources: verification.sources.map((source) => ({
      ...source,
      span: source.span === null ? null : toolOutput.span(source.span),
    })),
  };
}

/** Maps UTF-16 offsets of a text to UTF-8 offsets. The table is built on first use. */
class ByteOffsets {
  readonly #text: string;
  #bytes: Uint32Array | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  span({ start, end }: Span): Span {
    return { start: this.#at(start), end: this.#at(end) };
  }

  #at(offset: number): number {
    if (this.#bytes === null) this.#bytes = countBytes(this.#text);
    const bytes = this.#bytes[offset];
    if (bytes === undefined) throw new RangeError(`offset ${offset} is outside the string`);
    return bytes;
  }
}

function countBytes(text: string): Uint32Array {
  const bytes = new Uint32Array(text.length + 1);
  let total = 0;
  for (let i = 0; i < text.length; i++) {
    bytes[i] = total;
    const code = text.charCodeAt(i);
    if (code < 0x80) total += 1;
    else if (code < 0x800) total += 2;
    else if (isHighSurrogate(code) && isLowSurrogate(text.charCodeAt(i + 1))) {
      // A pair takes four bytes. An offset between its halves becomes the offset after it.
      total += 4;
      i++;
      bytes[i] = total;
    } else total += 3;
  }
  bytes[text.length] = total;
  return bytes;
}
