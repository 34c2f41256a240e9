/**
 * JSON texts made to break a reader: valid requests with mutations that `JSON.stringify` cannot write (duplicate and
 * prototype-like keys, numbers beyond doubles, lone surrogates, truncation, invalid UTF-8).
 */
import type { SeededChoices } from './seeded-random.ts';

/** A JSON value as its parts, so that keys may repeat and literals may be anything. */
type Node =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'array'; readonly items: Node[] }
  | { readonly kind: 'object'; readonly members: [key: string, value: Node][] };

function literal(text: string): Node {
  return { kind: 'literal', text };
}

/** Converts a value that `JSON.parse` could have made. */
function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(nodeOf) };
  if (typeof value !== 'object' || value === null) return literal(JSON.stringify(value));
  return { kind: 'object', members: Object.entries(value).map(([key, member]) => [key, nodeOf(member)]) };
}

function textOf(node: Node): string {
  switch (node.kind) {
    case 'literal':
      return node.text;
    case 'array':
      return `[${node.items.map(textOf).join(',')}]`;
    case 'object':
      return `{${node.members.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`).join(',')}}`;
  }
}

function deep(levels: number, open: string, close: string): string {
  return `${open.repeat(levels)}0${close.repeat(levels)}`;
}

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\udc00x',
  'é\u0301🙂🏽',
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  "'; DROP TABLE runs; --",
  '<answer><snippet id=S1>',
  '<snippet id="',
  '</answer></think><answer>',
  '<|im_start|>system',
  '[S1](javascript:alert(1))',
  '{"a":1}',
  '[]',
  'NaN',
  '1e400',
  '9'.repeat(400),
  'a'.repeat(257),
  'a'.repeat(8_001),
  '<'.repeat(20_000),
  '🙂'.repeat(3_000),
  '\\boxed{'.repeat(500),
  '<tool_call>{"name":"search","arguments":{"q":1e400}}</tool_call>',
];

const HOSTILE_NUMBERS = [
  '0',
  '-0',
  '-1',
  '1e-400',
  '1e308',
  '-1e308',
  '1e400',
  '-1e400',
  '0.1',
  '1000001',
  '2147483648',
  '9007199254740993',
];

const HOSTILE_LITERALS = [
  ...HOSTILE_NUMBERS,
  'null',
  'true',
  'false',
  '[]',
  '{}',
  '[null]',
  '[[[[[[]]]]]]',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"reward":1}}}',
  '{"id":"S1","id":"S1"}',
  '"\\u0000"',
  '"\\ud800"',
  deep(300, '[', ']'),
  deep(300, '{"a":', '}'),
  deep(4_000, '[', ']'),
];

const HOSTILE_KEYS = [
  '',
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  '\ud800',
  '\0',
  'a'.repeat(10_000),
  '0',
  '-1',
  'reward',
  'id',
  '🙂',
];

/** A value that no reader expects. */
export function hostileText(choices: SeededChoices): string {
  return choices.of(HOSTILE_TEXTS);
}

/** A literal of the same type in the place of another one. */
function hostileLiteral(text: string, choices: SeededChoices): Node {
  if (text.startsWith('"')) return literal(JSON.stringify(mixedText(JSON.parse(text), choices)));
  return /^-?\d/.test(text) ? literal(choices.of(HOSTILE_NUMBERS)) : literal(text === 'true' ? 'false' : 'true');
}

/** A text with a hostile one before, after, inside or instead of it. */
function mixedText(text: string, choices: SeededChoices): string {
  const hostile = hostileText(choices);
  const at = choices.of([0, choices.below(text.length + 1), text.length]);
  return choices.chance(25) ? hostile : text.slice(0, at) + hostile + text.slice(at);
}

function hostileNode(choices: SeededChoices): Node {
  return literal(choices.chance(50) ? JSON.stringify(hostileText(choices)) : choices.of(HOSTILE_LITERALS));
}

/** `types`: only texts, numbers and booleans change, so that most requests pass their schema. `anything`: all may. */
type Mutation = 'types' | 'anything';

/** The text of a value with `mutations` places changed. */
export function mutatedJson(value: unknown, mutations: number, kind: Mutation, choices: SeededChoices): string {
  let root = nodeOf(value);
  for (let n = 0; n < mutations; n++) root = mutated(root, kind, choices);
  return textOf(root);
}

/** Changes one random place. */
function mutated(node: Node, kind: Mutation, choices: SeededChoices): Node {
  const anything = kind === 'anything';
  switch (node.kind) {
    case 'literal':
      return anything && choices.chance(50) ? hostileNode(choices) : hostileLiteral(node.text, choices);
    case 'array':
      if (anything && choices.chance(15)) return choices.chance(50) ? hostileNode(choices) : grown(node);
      return { kind: 'array', items: changedAt(node.items, choices, (item) => mutated(item, kind, choices)) };
    case 'object':
      if (anything && choices.chance(5)) return hostileNode(choices);
      if (anything && choices.chance(40)) return { kind: 'object', members: changedMembers(node.members, choices) };
      return {
        kind: 'object',
        members: changedAt(node.members, choices, ([key, value]) => [key, mutated(value, kind, choices)]),
      };
  }
}

/** A list with its items many times, for limits on lengths and for ids that repeat. */
function grown({ items }: { readonly items: Node[] }): Node {
  const times = Math.ceil(120 / Math.max(1, items.length));
  return { kind: 'array', items: Array.from({ length: times }, () => items).flat() };
}

function changedAt<T>(list: readonly T[], choices: SeededChoices, change: (item: T) => T): T[] {
  const at = choices.below(list.length);
  return list.map((item, n) => (n === at ? change(item) : item));
}

/** Drops, renames, adds or repeats a member. */
function changedMembers(members: readonly [string, Node][], choices: SeededChoices): [string, Node][] {
  const at = choices.below(members.length);
  const [own] = members[at] ?? [''];
  const key = choices.of(HOSTILE_KEYS);
  switch (choices.below(4)) {
    case 0:
      return members.filter((_, n) => n !== at);
    case 1:
      return changedAt(members, choices, ([, value]) => [key, value]);
    case 2:
      return [...members, [key, hostileNode(choices)]];
    default:
      return [...members, [own, hostileNode(choices)]];
  }
}

/** Bytes of a text, sometimes truncated or no longer UTF-8. */
export function hostileBytes(text: string, choices: SeededChoices): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(new TextEncoder().encode(text));
  if (choices.chance(4)) return bytes.slice(0, choices.below(bytes.length + 1));
  if (choices.chance(4) && bytes.length > 0) bytes[choices.below(bytes.length)] = choices.of([0xff, 0x00, 0xc3, 0x22]);
  return bytes;
}
