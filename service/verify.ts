/** Verifies a response while it is being written: pieces of its text in, events out. Pure computation. */

import { parseResponse, sizeProblems } from '../src/citations/parse.ts';
import { sourcesOf } from '../src/citations/sources.ts';
import type { StreamEvent } from '../src/citations/stream/events.ts';
import { createIncrementalVerifier, type IncrementalVerifier } from '../src/citations/stream/verifier.ts';
import type { Finding, ParsedResponse, SourceSet } from '../src/citations/types.ts';
import { describeResponse, type Verification } from '../src/citations/verify.ts';
import { rolloutSources } from '../src/family/rollout-schema.ts';
import { MAX_TEXT_CHARS } from '../src/limits.ts';
import type { VerifyStreamHead } from '../src/wire/verify-stream.ts';
import { invalidInput, RequestError } from './failures.ts';

/** A long delta is verified in pieces of this many UTF-16 code units, which bounds the events of one call. */
const PIECE_CHARS = 65_536;

export class StreamedVerification {
  readonly #head: VerifyStreamHead;
  readonly #evidence: 'none' | 'lexical';
  readonly #sources: SourceSet;
  readonly #verifier: IncrementalVerifier;
  #chars = 0;

  /** @throws RequestError if there are too many sources. */
  constructor(head: VerifyStreamHead, evidence: 'none' | 'lexical') {
    this.#head = head;
    this.#evidence = evidence;
    this.#sources = sourcesOf(rolloutSources(head));
    this.#checkSize(parseResponse('', this.#sources));
    const { grammar, answer, mode, citations, question } = head;
    this.#verifier = createIncrementalVerifier({
      sources: this.#sources,
      grammar,
      mode,
      citations,
      evidence,
      ...(answer === undefined ? {} : { answer }),
      ...(question === undefined ? {} : { question }),
    });
  }

  /** The findings about the sources themselves. */
  get findings(): readonly Finding[] {
    return this.#sources.findings;
  }

  /** Verifies the next part of the response. @throws RequestError if the response becomes too long. */
  *push(delta: string): Generator<readonly StreamEvent[]> {
    this.#chars += delta.length;
    if (this.#chars > MAX_TEXT_CHARS) throw invalidInput(['response'], `expected at most ${MAX_TEXT_CHARS} characters`);
    for (let start = 0; start < delta.length; start += PIECE_CHARS) {
      yield this.#verifier.push(delta.slice(start, start + PIECE_CHARS));
    }
  }

  /** Ends the response: its last events, and the whole verification. @throws RequestError if it has too many parts. */
  finish(): { readonly events: readonly StreamEvent[]; readonly verification: Verification } {
    const { events, response, parsed } = this.#verifier.finish();
    this.#checkSize(parsed);
    const { mode, citations, question } = this.#head;
    const options = { mode, evidence: this.#evidence, citations, question };
    const verification = describeResponse(response, parsed, this.#sources, options);
    return { events, verification };
  }

  #checkSize(parsed: ParsedResponse): void {
    const field = this.#head.tool_output === undefined ? 'sources' : 'tool_output';
    const problems = sizeProblems(parsed, this.#sources, field);
    if (problems.length > 0) throw new RequestError({ reason: 'input_invalid', problems });
  }
}
