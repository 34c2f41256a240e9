/**
 * A judgment: the verdicts of one request with everything that could change them. Judgments are immutable and
 * content-addressed: the key follows from the preimage.
 */
import type { JudgmentKind } from './kinds/names.ts';
import type { Verdicts } from './kinds/registry.ts';
import type { JudgeFailure, TokenUsage } from './protocol/failure.ts';

/** Everything about a judge that can change its verdicts on one kind of request; part of every key. */
export type JudgeIdentity = {
  /** The model as its backend names it, a sandbox's runtime, or `citeward-lexical-N`. */
  readonly model: string;
  /** The kind's template digest, or the lexical judge's own version. */
  readonly template: string;
  /** Sampling parameters exactly as sent; `null` for a deterministic judge. */
  readonly sampling: Readonly<Record<string, number | string | boolean>> | null;
};

/** The content that a key follows from. Inputs appear as digests only, so a record contains no text. */
export type JudgmentPreimage = {
  /** The form of the key (`judgmentKey`). Version 1 is still read, and no longer written. */
  readonly v: 1 | 2;
  readonly kind: JudgmentKind;
  readonly judge: JudgeIdentity;
  /** Version of the parser that cut the request out of a response; `none` for kinds that do not depend on it. */
  readonly parser: string;
  /** 0, 1, …: independent judgments of the same request, for measuring judge variance. */
  readonly replicate: number;
  /**
   * Input name to SHA-256 (hex) of its RFC 8785 JSON. Beside what the judge reads, `answer` says which answer the
   * claims and statements of a request are of.
   */
  readonly inputs: Readonly<Record<string, string>>;
};

/** A judgment before an issuer signs it. */
export type UnsignedJudgment = {
  readonly v: 2;
  /** 64 hex digits (`judgmentKey`). */
  readonly key: string;
  readonly preimage: JudgmentPreimage;
  readonly verdicts: Verdicts;
  readonly usage: TokenUsage | null;
  /** ISO 8601 time of the judgment. */
  readonly judged_at: string;
};

/** The stored record, version 2. A record of version 1 had no issuer and is read as unsigned. */
export type Judgment = UnsignedJudgment & {
  /** The issuer's signature over the record; `null` = unsigned. */
  readonly issuer: RecordSignature | null;
};

export type RecordSignature = {
  /** RFC 7638 thumbprint of the Ed25519 public key, in hex. */
  readonly key_id: string;
  /** The signature, as base64url, over the RFC 8785 JSON of the record with `issuer: {key_id}`. */
  readonly signature: string;
};

/**
 * A judgment, or the reason it is missing. `judged`: the positions of the request's entries (claims, statements) that
 * fit into the judge's context, where not all do. Without a judgment: each entry alone was too long for the judge.
 */
export type JudgmentOutcome =
  | {
      readonly ok: true;
      readonly judgment: Judgment;
      readonly cached: boolean;
      readonly latency_ms: number;
      readonly judged?: readonly number[];
    }
  | { readonly ok: false; readonly failure: JudgeFailure; readonly judged?: readonly [] };
