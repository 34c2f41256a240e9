/**
 * Collects what a format reads: the answer's text, which stretches of it cite which sources, and which are markup. Then
 * writes the response that the parser reads: `<answer>` with a `<snippet id="…">` around each claim. Linear.
 */
import type { InputProblem } from '../../input-problem.ts';
import { MAX_CITATIONS, MAX_MESSAGE_PARTS, MAX_TEXT_CHARS } from '../../limits.ts';
import { hasContent } from '../../text/characters.ts';
import { splitSentences } from '../../text/sentences.ts';
import { type Span, trimSpan, withBlanks } from '../../text/span.ts';
import type { OffsetUnit } from '../offset-units.ts';
import { isIdSeparator } from '../tags.ts';
import type { SourceSet } from '../types.ts';
import { AnswerFindings } from './answer-findings.ts';
import { AnswerSources, type Pointer } from './answer-sources.ts';
import { leakedMarkup, mayLeak } from './leaked-markup.ts';
import { type Reading, readingsOf, UnitReader } from './readings.ts';
import { onlyPlaceOf } from './search.ts';
import { TextMap } from './text-map.ts';
import { type CitedStretch, writeAnswer } from './write-answer.ts';

type Path = InputProblem['path'];

/** Text in which claims that are not at their offsets are searched: a tenth of a second of work. */
const MAX_LOCATED_CHARS = 30_000_000;

/** One text block of the answer. */
export type Block = { readonly start: number; readonly text: string; readonly units: UnitReader };

/** Two offsets into a block, as a vendor sends them. */
type Located = {
  readonly start: number;
  readonly end: number;
  /** The usual unit of the vendor. */
  readonly unit: OffsetUnit;
  /** Whether the last character usually belongs to the stretch. */
  readonly usualEnd?: Reading['end'];
  /** The text that the offsets should delimit, if the vendor repeats it. */
  readonly expected: string | null;
  /** Without `expected`: whether a slice looks like what the offsets delimit. */
  readonly fits?: (slice: string, span: Span) => boolean;
  readonly path: Path;
};

export class AnswerDraft {
  readonly findings = new AnswerFindings();
  readonly problems: InputProblem[] = [];
  readonly sources: AnswerSources;
  readonly #texts: string[] = [];
  #length = 0;
  #citations = 0;
  readonly #cited: (CitedStretch & { readonly path: Path })[] = [];
  readonly #markers: { readonly span: Span; readonly ids: string[]; readonly path: Path }[] = [];
  readonly #hidden: Span[] = [];
  /** Text of blocks in which a claim that is not at its offsets was searched. */
  #searched = 0;

  constructor(given: SourceSet | null) {
    this.sources = new AnswerSources(given, this.findings);
  }

  /** Adds the next text block of the answer. */
  addText(text: string): Block {
    const start = this.#length;
    this.#length += text.length;
    if (this.#length > MAX_TEXT_CHARS) this.refuse([], `expected at most ${MAX_TEXT_CHARS} characters of text`);
    else if (this.#texts.length >= MAX_MESSAGE_PARTS) this.refuse([], `expected at most ${MAX_MESSAGE_PARTS} parts`);
    else this.#texts.push(text);
    return { start, text, units: new UnitReader(text) };
  }

  /** Refuses the answer. Each message is reported once. */
  refuse(path: Path, message: string): void {
    if (this.problems.every((problem) => problem.message !== message)) this.problems.push({ path, message });
  }

  /** Cites sources for a stretch of the answer. `text`: the claim without markup. */
  cite(span: Span, pointers: readonly Pointer[], path: Path, text?: string): void {
    const ids = this.#idsOf(pointers);
    if (ids.length > 0) this.#cited.push({ ...span, ids, path, ...(text === undefined ? {} : { text }) });
  }

  /** Cites sources for the sentence before a marker, which is no part of the claim. */
  citeBefore(marker: Span, pointers: readonly Pointer[], path: Path): void {
    const ids = this.#idsOf(pointers);
    if (ids.length > 0) this.#markers.push({ span: marker, ids, path });
    this.hide(marker);
  }

  /** Leaves markup out of the response. */
  hide(span: Span): void {
    if (span.end > span.start) this.#hidden.push(span);
  }

  #idsOf(pointers: readonly Pointer[]): string[] {
    this.#citations += pointers.length;
    if (this.#citations > MAX_CITATIONS) {
      this.refuse([], `expected at most ${MAX_CITATIONS} citations; split the answer`);
      return [];
    }
    return pointers.map((pointer) => this.sources.idOf(pointer));
  }

  /** Finds the stretch of a block that two offsets delimit; `null` if no reading of them fits. */
  locate(block: Block, { start, end, unit, usualEnd, expected, fits, path }: Located): Span | null {
    const inAnswer = (span: Span): Span => ({ start: block.start + span.start, end: block.start + span.end });
    const readings = readingsOf(unit, usualEnd);
    let inside: { readonly span: Span; readonly reading: Reading } | null = null;
    for (const reading of readings) {
      const span = block.units.span(start, end, reading);
      if (span === null) continue;
      inside ??= { span, reading };
      if (!sliceFits(block.text, span, expected, fits)) continue;
      if (reading !== readings[0]) this.findings.add({ reason: 'offset_reading', path, span: inAnswer(span), reading });
      return inAnswer(span);
    }
    if (expected === null) return inside === null ? this.#lost(path) : inAnswer(inside.span);
    if (expected === '') return this.#lost(path);
    this.#searched += block.text.length + expected.length;
    const at = this.#searched > MAX_LOCATED_CHARS ? -1 : onlyPlaceOf(block.text, expected);
    if (at === -1) return this.#lost(path);
    const found = inAnswer({ start: at, end: at + expected.length });
    this.findings.add({ reason: 'claim_moved', path, span: found });
    return found;
  }

  #lost(path: Path): null {
    this.findings.add({ reason: 'claim_not_found', path });
    return null;
  }

  /** Writes the response, with the way back to the vendor's text. */
  finish(): { readonly text: string; readonly response: string; readonly map: TextMap } {
    const text = this.#texts.join('');
    const hidden = joinedSpans(this.#hidden);
    const stretches = [...this.#cited, ...this.#beforeMarkers(text, hidden)].flatMap((one) => {
      const span = trimSpan(text, one.start, one.end);
      if (hasContent(text, span.start, span.end)) return [{ ...one, ...span }];
      this.findings.add({ reason: 'claim_not_found', path: one.path });
      return [];
    });
    for (const span of mayLeak(text) ? leakedMarkup(withBlanks(text, hidden)) : []) {
      this.findings.add({ reason: 'citation_unread', path: [], span });
    }
    const map = new TextMap();
    const claims = this.#joined(stretches);
    return { text, map, response: writeAnswer({ text, claims, hidden, map, findings: this.findings }) };
  }

  /** The claims of the markers: the text before each in its sentence, after the citation before it. */
  #beforeMarkers(text: string, hidden: readonly Span[]): (CitedStretch & { readonly path: Path })[] {
    if (this.#markers.length === 0) return [];
    const masked = withBlanks(text, hidden);
    const sentences = splitSentences(masked, 0, masked.length);
    const claims: { start: number; end: number; ids: string[]; path: Path }[] = [];
    let sentence = 0;
    let from = 0;
    for (const { span, ids, path } of this.#markers.toSorted((a, b) => a.span.start - b.span.start)) {
      const last = claims.at(-1);
      if (last !== undefined && onlySeparators(masked, from, span.start)) {
        last.ids.push(...ids);
        from = Math.max(from, span.end);
        continue;
      }
      while ((sentences[sentence + 1]?.start ?? masked.length) < span.start) sentence++;
      const start = Math.max(from, sentences[sentence]?.start ?? 0);
      claims.push({ start: withoutSeparators(masked, start, span.start), end: span.start, ids: [...ids], path });
      from = Math.max(from, span.end);
    }
    return claims;
  }

  /** Joins claims that overlap into one with the ids of all, because a response cannot hold crossing elements. */
  #joined(stretches: readonly (CitedStretch & { readonly path: Path })[]): CitedStretch[] {
    const claims: { start: number; end: number; ids: string[]; text?: string }[] = [];
    const sorted = stretches.toSorted((a, b) => a.start - b.start || b.end - a.end);
    for (const { path, ...stretch } of sorted) {
      const last = claims.at(-1);
      if (last === undefined || stretch.start >= last.end) {
        claims.push({ ...stretch, ids: [...stretch.ids] });
        continue;
      }
      if (stretch.start !== last.start || stretch.end !== last.end) {
        const span = { start: last.start, end: Math.max(last.end, stretch.end) };
        this.findings.add({ reason: 'claims_joined', path, span });
        last.end = span.end;
        delete last.text;
      }
      last.ids.push(...stretch.ids);
    }
    return claims.map((claim) => ({ ...claim, ids: [...new Set(claim.ids)] }));
  }
}

function sliceFits(text: string, span: Span, expected: string | null, fits: Located['fits']): boolean {
  if (expected !== null) {
    return span.end - span.start === expected.length && text.startsWith(expected, span.start);
  }
  return fits === undefined || fits(text.slice(span.start, span.end), span);
}

/** Sorted spans without overlap. */
function joinedSpans(spans: readonly Span[]): Span[] {
  const joined: { start: number; end: number }[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else joined.push({ ...span });
  }
  return joined;
}

function onlySeparators(text: string, start: number, end: number): boolean {
  return withoutSeparators(text, start, end) >= end;
}

/** The first place after white space, separators and the stop that ended the sentence of the marker before. */
function withoutSeparators(text: string, start: number, end: number): number {
  let i = start;
  while (i < end && (isIdSeparator(text.charCodeAt(i)) || ' \t\r\n.。'.includes(text.charAt(i)))) i++;
  return i;
}
