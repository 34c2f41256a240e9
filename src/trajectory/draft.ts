/** Collects the turns, problems and findings of a trajectory while it is read, and reads the values that all formats share. */

import type { InputProblem } from '../input-problem.ts';
import { isJsonObject, parsedJson } from '../json.ts';
import { MAX_FINDINGS, MAX_MESSAGE_DEPTH, MAX_MESSAGE_PARTS, MAX_PROBLEM_ERRORS, MAX_TEXT_CHARS } from '../limits.ts';
import { isBlank } from '../text/span.ts';
import type {
  MessagePath,
  TextPiece,
  TracedText,
  TrajectoryCall,
  TrajectoryFinding,
  Turn,
  TurnRole,
} from './trajectory.ts';

/** An object of the request whose fields are unknown. */
export type Fields = Readonly<Record<string, unknown>>;

/** The field of an object. A name that the object only inherits is `undefined`. */
export function fieldOf(record: Fields, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Whether the trainer left the value out: Python clients write absent fields as null. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

export class TrajectoryDraft {
  readonly turns: Turn[] = [];
  /** At most MAX_PROBLEM_ERRORS problems. */
  readonly problems: InputProblem[] = [];
  readonly findings: TrajectoryFinding[] = [];
  findingCount = 0;
  #parts = 0;
  readonly #policyMessages: ReadonlySet<number> | null;

  /** @param policyMessages indexes of the messages that the policy wrote; `null` = the messages say so themselves. */
  constructor(policyMessages: ReadonlySet<number> | null) {
    this.#policyMessages = policyMessages;
  }

  problem(path: MessagePath, message: string): void {
    if (this.problems.length < MAX_PROBLEM_ERRORS) this.problems.push({ path, message });
  }

  expected(path: MessagePath, what: string, got: unknown): void {
    this.problem(path, `expected ${what}, got ${kindOf(got)}`);
  }

  tooLong(path: MessagePath): void {
    this.problem(path, `expected at most ${MAX_TEXT_CHARS} characters`);
  }

  /** Counts a part, call or output. Returns `false`, after a problem, beyond the limit. */
  countPart(path: MessagePath): boolean {
    this.#parts++;
    if (this.#parts === MAX_MESSAGE_PARTS + 1) {
      this.problem(path, `expected at most ${MAX_MESSAGE_PARTS} content parts and tool calls in all messages`);
    }
    return this.#parts <= MAX_MESSAGE_PARTS;
  }

  finding(reason: TrajectoryFinding['reason'], path: MessagePath): void {
    this.findingCount++;
    if (this.findings.length < MAX_FINDINGS) this.findings.push({ reason, path });
  }

  /** Whether the policy wrote a message. */
  byPolicy(message: Fields, position: number, role: TurnRole, path: MessagePath): boolean {
    if (this.#policyMessages !== null) {
      const listed = this.#policyMessages.has(position);
      if (listed && role !== 'assistant') {
        this.problem([...path, 'role'], 'expected "assistant": the policy is said to have written this message');
      }
      return listed;
    }
    for (const name of ['by_policy', 'sampled']) {
      const value = fieldOf(message, name);
      if (isAbsent(value)) continue;
      if (typeof value === 'boolean') return value && role === 'assistant';
      this.expected([...path, name], 'a boolean', value);
    }
    return role === 'assistant';
  }

  /** Reads an optional string; wrong types are problems. */
  string(record: Fields, name: string, path: MessagePath): string | null {
    const value = fieldOf(record, name);
    if (isAbsent(value)) return null;
    if (typeof value === 'string') return value;
    this.expected([...path, name], 'a string', value);
    return null;
  }

  /** Reads the first of several optional strings that is given. */
  firstString(record: Fields, names: readonly string[], path: MessagePath): string | null {
    for (const name of names) {
      const value = this.string(record, name, path);
      if (value !== null) return value;
    }
    return null;
  }

  /**
   * Reads the name and the arguments of a call: JSON text, or an object (TRL). Returns `null` after a problem.
   *
   * @param record the object with `name` and `arguments` (or `input`).
   */
  call(record: Fields, id: string | null, path: MessagePath): TrajectoryCall | null {
    const name = fieldOf(record, 'name');
    if (typeof name !== 'string' || name === '') {
      this.expected([...path, 'name'], "the tool's name, a string", name);
      return null;
    }
    const field =
      fieldOf(record, 'arguments') === undefined && fieldOf(record, 'input') !== undefined ? 'input' : 'arguments';
    const given = fieldOf(record, field) ?? '';
    const at = [...path, field];
    if (typeof given === 'string') {
      const parsed = parsedObject(given);
      if (parsed === null && given.trim() !== '') this.finding('arguments_malformed', at);
      return { id, name, arguments: given.trim() === '' ? {} : parsed, arguments_text: given, path };
    }
    if (!isJsonObject(given)) {
      this.expected(at, 'an object or its JSON text', given);
      return null;
    }
    return { id, name, arguments: given, arguments_text: JSON.stringify(given), path };
  }
}

/** Builds a text from strings of the request, one after the other. */
export class TextBuilder {
  #text = '';
  readonly #pieces: TextPiece[] = [];

  /** Appends a string, or the range of it from `from` to `to`. */
  add(string: string, path: MessagePath, from = 0, to = string.length): void {
    const start = this.#text.length;
    this.#text += from === 0 && to === string.length ? string : string.slice(from, to);
    if (this.#text.length > start) this.#pieces.push({ start, end: this.#text.length, path, from });
  }

  /** Appends a text with its origin. */
  addText({ text, pieces }: TracedText): void {
    const by = this.#text.length;
    this.#text += text;
    for (const piece of pieces) this.#pieces.push({ ...piece, start: piece.start + by, end: piece.end + by });
  }

  /** Appends text that is not the caller's. */
  addOwn(text: string): void {
    this.#text += text;
  }

  get length(): number {
    return this.#text.length;
  }

  isEmpty(): boolean {
    return this.#text === '';
  }

  isBlank(): boolean {
    return isBlank(this.#text);
  }

  build(): TracedText {
    return { text: this.#text, pieces: this.#pieces };
  }
}

/** A whole string of the request as a text. */
export function wholeText(string: string, path: MessagePath): TracedText {
  return { text: string, pieces: string === '' ? [] : [{ start: 0, end: string.length, path, from: 0 }] };
}

/** A part of a text, with its origin. Takes time linear in the part, however many pieces the text has. */
export function sliceText({ text, pieces }: TracedText, start: number, end: number): TracedText {
  const cut: TextPiece[] = [];
  for (let n = firstEndingAfter(pieces, start); n < pieces.length; n++) {
    const piece = pieces[n];
    if (piece === undefined || piece.start >= end) break;
    const from = Math.max(start, piece.start);
    const to = Math.min(end, piece.end);
    if (from < to)
      cut.push({ start: from - start, end: to - start, path: piece.path, from: piece.from + from - piece.start });
  }
  return { text: text.slice(start, end), pieces: cut };
}

/** Index of the first piece that ends after an offset. */
export function firstEndingAfter(pieces: readonly TextPiece[], offset: number): number {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pieces[middle]?.end ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Refuses texts beyond the limit of one field. */
export function isTooLong(text: string): boolean {
  return text.length > MAX_TEXT_CHARS;
}

function parsedObject(text: string): Fields | null {
  const value = parsedJson(text);
  return isJsonObject(value) && !isDeeperThan(value, MAX_MESSAGE_DEPTH) ? value : null;
}

/** Whether a JSON value nests deeper than `most` levels. Iterative, because hostile values overflow a stack. */
export function isDeeperThan(value: object, most: number): boolean {
  let level: readonly object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > most) return true;
    level = level.flatMap((one) =>
      Object.values(one).filter((inner): inner is object => typeof inner === 'object' && inner !== null),
    );
  }
  return false;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
