/**
 * Reads the sources of a rollout: elements `<snippet id=…>`, `<snippets …>` or `<webpage id=…>` of raw tool output (the
 * format of dr-tulu's code), or a list of sources.
 *
 * Rules where that code is ambiguous or loses text:
 * - Elements with one id are one source, because the policy saw all their texts under that id. Its text is all of them
 *   in reading order, joined by line breaks (dr-tulu keeps the last one, or the webpage). Finding
 *   `source_duplicate_id`.
 * - Elements may nest. The text of a source is its whole content without the inner source tags, and inner elements are
 *   sources too. `</snippet>` also closes `<snippets>`, and `</snippets>` closes `<snippet>`.
 * - An element that is never closed ends at the next opening tag of a source or at the end of the tool output, because
 *   output is often truncated. A self-closing element is empty. A source without text is a `source_empty` finding.
 * - An element without an id cannot be cited and is no source.
 */
import { isBlank, type Span, trimSpan } from '../text/span.ts';
import { FindingList } from './findings.ts';
import { attributeCount, isNamed, readTag, type Tag, textWithoutTags, valueSpan } from './tags.ts';
import type { Source, SourceSet } from './types.ts';

const SOURCE_TAGS = ['snippet', 'snippets', 'webpage', 'tool_output'] as const;
const WEBPAGE = SOURCE_TAGS.indexOf('webpage');
const TOOL_OUTPUT = SOURCE_TAGS.indexOf('tool_output');

/** Deepest nesting of elements. Beyond it, the outermost open element counts as never closed, which bounds time. */
const MAX_SOURCE_NESTING = 8;

/** One source as a caller passes it. Ids should be unique; texts of equal ids are joined. */
export type SourceInput = {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly url?: string;
};

/** Reads the sources of a rollout, tagged or listed. */
export function sourcesOf(
  rollout: { readonly tool_output: string } | { readonly sources: readonly SourceInput[] },
): SourceSet {
  return 'tool_output' in rollout ? parseSources(rollout.tool_output) : sourcesFromList(rollout.sources);
}

/**
 * Builds a source set from a list. The span of a finding about a source is its whole text. Takes linear time.
 *
 * @example
 * sourcesFromList([{ id: 'S1', text: 'The bridge opened in 1937.' }]).byId.get('S1'); // 0
 */
export function sourcesFromList(sources: readonly SourceInput[]): SourceSet {
  const collector = new SourceCollector('sources');
  for (const source of sources) collector.add({ ...source, span: null }, { start: 0, end: source.text.length });
  return collector.finish();
}

/**
 * Reads the sources in raw tool output. Never throws. Takes linear time. Spans are UTF-16 code units of `toolOutput`.
 *
 * @example
 * parseSources('<snippet id=S1>The bridge opened in 1937.</snippet>').list[0]?.text; // 'The bridge opened in 1937.'
 */
export function parseSources(toolOutput: string): SourceSet {
  const end = toolOutput.length;
  const tags: Tag[] = [];
  /** For each tag, the index of the tag that closes it; -1 if there is none. */
  const closedBy: number[] = [];
  const open: number[] = [];
  for (let at = toolOutput.indexOf('<'); at !== -1; ) {
    const tag = readTag(toolOutput, at, end, SOURCE_TAGS);
    if (tag === null) {
      at = toolOutput.indexOf('<', at + 1);
      continue;
    }
    const position = tags.push(tag) - 1;
    closedBy.push(-1);
    if (tag.name === TOOL_OUTPUT) open.length = 0;
    else if (tag.closing) close(tags, open, closedBy, position);
    else if (tag.selfClosing) closedBy[position] = position;
    else {
      open.push(position);
      if (open.length > MAX_SOURCE_NESTING) open.shift();
    }
    at = toolOutput.indexOf('<', tag.span.end);
  }

  const collector = new SourceCollector('tool_output');
  for (let position = 0; position < tags.length; position++) {
    const tag = tags[position];
    if (tag === undefined || tag.closing || tag.name === TOOL_OUTPUT) continue;
    const id = (attributeValue(toolOutput, tag, 'id') ?? attributeValue(toolOutput, tag, 'ids'))?.trim();
    if (id === undefined || id === '') continue;
    const last = closedBy[position] ?? -1;
    const contentEnd = last === -1 ? unclosedEnd(tags, position, end) : (tags[last]?.span.start ?? end);
    const span = trimSpan(toolOutput, tag.span.end, Math.max(contentEnd, tag.span.end));
    const title = attributeValue(toolOutput, tag, 'title');
    const url = attributeValue(toolOutput, tag, 'url') ?? attributeValue(toolOutput, tag, 'href');
    const source: Mutable<Source> = {
      id,
      text:
        last <= position + 1
          ? toolOutput.slice(span.start, span.end)
          : textWithoutTags(toolOutput, span, tags, position, last),
      span,
    };
    if (title !== null) source.title = title;
    if (url !== null) source.url = url;
    collector.add(source, span);
  }
  return collector.finish();
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Closes the innermost open element of the closing tag's kind. Open elements inside it remain unclosed. */
function close(tags: readonly Tag[], open: number[], closedBy: number[], closer: number): void {
  const isWebpage = tags[closer]?.name === WEBPAGE;
  for (let depth = open.length - 1; depth >= 0; depth--) {
    const opener = open[depth];
    if (opener === undefined || (tags[opener]?.name === WEBPAGE) !== isWebpage) continue;
    closedBy[opener] = closer;
    open.length = depth;
    return;
  }
}

/** Returns the end of an element that is never closed: the next opening tag, or the end of the tool output. */
function unclosedEnd(tags: readonly Tag[], position: number, end: number): number {
  for (let next = position + 1; next < tags.length; next++) {
    const tag = tags[next];
    if (tag !== undefined && (!tag.closing || tag.name === TOOL_OUTPUT)) return tag.span.start;
  }
  return end;
}

function attributeValue(text: string, { attributes }: Tag, name: string): string | null {
  for (let n = 0; n < attributeCount(attributes); n++) {
    if (!isNamed(text, attributes, n, name)) continue;
    const value = valueSpan(attributes, n);
    if (value !== null) return text.slice(value.start, value.end);
  }
  return null;
}

class SourceCollector {
  readonly #list: Source[] = [];
  readonly #byId = new Map<string, number>();
  /** The distinct texts of each source whose id was repeated. */
  readonly #pieces = new Map<number, Set<string>>();
  readonly #findings = new FindingList();
  readonly #where: 'tool_output' | 'sources';

  constructor(where: 'tool_output' | 'sources') {
    this.#where = where;
  }

  add(source: Source, span: Span): void {
    const known = this.#byId.get(source.id);
    const position = known === undefined ? this.#list.length : known;
    if (known === undefined) {
      this.#byId.set(source.id, position);
      this.#list.push(source);
    } else {
      this.#findings.add({ reason: 'source_duplicate_id', in: this.#where, span, source: known });
      const pieces = this.#pieces.get(known) ?? new Set([this.#list[known]?.text ?? '']);
      this.#pieces.set(known, pieces.add(source.text));
    }
    if (isBlank(source.text)) {
      this.#findings.add({ reason: 'source_empty', in: this.#where, span, source: position });
    }
  }

  finish(): SourceSet {
    for (const [position, pieces] of this.#pieces) {
      const first = this.#list[position];
      const text = [...pieces].filter((piece) => piece !== '').join('\n');
      if (first !== undefined) this.#list[position] = { ...first, text };
    }
    return {
      list: this.#list,
      evidence: { index: null },
      byId: this.#byId,
      findings: this.#findings.list,
      counts: this.#findings.counts,
    };
  }
}
