/**
 * Judgment keys: content addresses. Equal inputs give equal keys on every machine and runtime; nothing in a key depends
 * on ICU, a locale or a clock.
 */
import { PARSER_VERSION } from '../citations/grammars.ts';
import { digestJson } from '../digest.ts';
import type { JudgeIdentity, JudgmentPreimage } from './judgment.ts';
import { type JudgmentRequest, kindOf } from './kinds/registry.ts';

/** Collects everything that could change the verdicts of a request, with the inputs as digests. */
export function judgmentPreimage(request: JudgmentRequest, judge: JudgeIdentity, replicate: number): JudgmentPreimage {
  const { kind, ...inputs } = request;
  return {
    v: 1,
    kind,
    judge,
    parser: kindOf(kind).dependsOnParser ? PARSER_VERSION : 'none',
    replicate,
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, digestOfInput(value)])),
  };
}

/** Caches digests by object: all keys of a group share its sources, which may be a megabyte. */
const known = new WeakMap<object, string>();

function digestOfInput(value: unknown): string {
  if (typeof value !== 'object' || value === null) return digestJson(value);
  const digest = known.get(value) ?? digestJson(value);
  known.set(value, digest);
  return digest;
}

/** The key of a judgment: the SHA-256 of its preimage, 64 hex digits. */
export function judgmentKey(preimage: JudgmentPreimage): string {
  return digestJson(preimage);
}
