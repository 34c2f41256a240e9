/**
 * Judgment keys: content addresses. Equal inputs give equal keys on every machine and runtime; nothing in a key depends
 * on ICU, a locale or a clock.
 */
import { PARSER_VERSION } from '../citations/grammars.ts';
import { canonicalJson, digestJson, digestOnce, sha256 } from '../digest.ts';
import type { JudgeIdentity, JudgmentPreimage } from './judgment.ts';
import { type JudgmentRequest, kindOf } from './kinds/registry.ts';

/** Digests of inputs by their canonical JSON. The requests of a group share questions and criteria. */
type InputDigests = Map<string, string>;

/**
 * Collects everything that could change the verdicts of a request, with the inputs as digests.
 * @param digests those of earlier requests; they are added to. Use one for requests that arrive together.
 * @param answer the judged answer, if the request has only parts of it.
 */
export function judgmentPreimage(
  request: JudgmentRequest,
  judge: JudgeIdentity,
  replicate: number,
  digests: InputDigests = new Map(),
  answer?: string,
): JudgmentPreimage {
  // How the judge is asked is part of its identity.
  const { kind, asking: _asking, ...read } = request;
  const inputs = answer === undefined ? read : { answer, ...read };
  return {
    v: 2,
    kind,
    judge,
    parser: kindOf(kind).dependsOnParser ? PARSER_VERSION : 'none',
    replicate,
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, digestOfInput(value, digests)])),
  };
}

function digestOfInput(value: unknown, digests: InputDigests): string {
  const hash = (json: string): string => {
    const digest = digests.get(json) ?? sha256(json);
    digests.set(json, digest);
    return digest;
  };
  // All requests of a group have the same sources, which may be a megabyte: even their JSON is made once.
  return typeof value === 'object' && value !== null ? digestOnce(value, hash) : hash(canonicalJson(value));
}

/** Hex digits of a key that name its partition. */
const PARTITION_DIGITS = 16;

/**
 * The key of a judgment, 64 hex digits: those of its partition, then the first 48 of the SHA-256 of its preimage. A
 * partition has one replicate of the judgments of one model about one answer, which desks store together. Two preimages
 * with one key take 2^96 attempts to find. A key of version 1 is the SHA-256 of its preimage.
 */
export function judgmentKey(preimage: JudgmentPreimage): string {
  const digest = digestJson(preimage);
  if (preimage.v === 1) return digest;
  const { judge, replicate, inputs } = preimage;
  const { question, answer } = inputs;
  // A judgment that is not about the answer to a question is alone in its partition.
  const partition =
    question === undefined || answer === undefined
      ? digest.slice(-PARTITION_DIGITS)
      : digestJson([judge.model, replicate, question, answer]);
  return partition.slice(0, PARTITION_DIGITS) + digest.slice(0, -PARTITION_DIGITS);
}

/** The partition of a key of version 2. */
export function partitionOf(key: string): string {
  return key.slice(0, PARTITION_DIGITS);
}
