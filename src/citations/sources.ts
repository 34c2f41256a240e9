/**
 * The sources of a rollout: pieces of raw tool output tagged `<snippet id=…>`, `<snippets …>` or `<webpage id=…>`
 * [code: dr-tulu], or sources that the caller passes one by one [ours].
 *
 * Policies, each where the reference is ambiguous or loses text:
 * - A repeated id is one source: the policy saw both texts under that id, so its text is all of them joined by a line
 *   break, in reading order (the reference keeps the last, or the webpage). Finding `source_duplicate_id`.
 * - Elements may nest; a source's text is its whole content without the inner source tags, and inner ones are sources
 *   of their own. `</snippet>` closes `<snippets>` and the other way round.
 * - A source that is never closed ends at the next source's opening tag, or where the tool output ends: output is often
 *   truncated. A self-closing element is empty. Finding `source_empty` where no text is left.
 * - A piece without an id cannot be cited and is no source.
 */
import { isBlank, type Span, trimSpan } from '../text/span.ts';
import { FindingList } from './findings.ts';
import { attributeCount, isNamed, readTag, type Tag, textWithoutTags, valueSpan } from './tags.ts';
import type { Source, SourceSet } from './types.ts';

const SOURCE_TAGS = ['snippet', 'snippets', 'webpage', 'tool_output'] as const;
const WEBPAGE = SOURCE_TAGS.indexOf('webpage');
const TOOL_OUTPUT = SOURCE_TAGS.indexOf('tool_output');

/** Deeper nesting than this is not a page in a page but an attack; a deeper element is a source, but never a parent. */
const MAX_SOURCE_NESTING = 8;

export type SourceInput = {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly url?: string;
};

/** Sources of a rollout, whichever way they came. */
export function sourcesOf(
  rollout: { readonly tool_output: string } | { readonly sources: readonly SourceInput[] },
): SourceSet {
  return 'tool_output' in rollout ? parseSources(rollout.tool_output) : sourcesFromList(rollout.sources);
}

/** Sources passed one by one; the span of a finding about one is its whole text. */
export function sourcesFromList(sources: readonly SourceInput[]): SourceSet {
  const collector = new SourceCollector('sources', null);
  for (const source of sources) collector.add({ ...source, span: null }, { start: 0, end: source.text.length });
  return collector.finish();
}

/** Sources tagged in raw tool output. One pass, linear, never throws. */
export function parseSources(toolOutput: string): SourceSet {
  const end = toolOutput.length;
  const tags: Tag[] = [];
  /** For each opening tag, the position in `tags` of what ends its content; `tags.length` at the end = nothing does. */
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

  const collector = new SourceCollector('tool_output', toolOutput);
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

/** Closes the innermost open element of the tag's kind; those opened inside it and not closed stay unclosed. */
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

/** A source that is never closed ends where the next one opens, or the tool output ends. */
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

  readonly #toolOutput: string | null;

  constructor(where: 'tool_output' | 'sources', toolOutput: string | null) {
    this.#where = where;
    this.#toolOutput = toolOutput;
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
      toolOutput: this.#toolOutput,
      list: this.#list,
      byId: this.#byId,
      findings: this.#findings.list,
      counts: this.#findings.counts,
    };
  }
}
