/** Exports citation checks to users of the library: of a whole response, or of a response while it is generated. */
import { parseResponse, sizeProblems } from '../src/citations/parse.ts';
import { sourcesOf } from '../src/citations/sources.ts';
import { createIncrementalVerifier, type IncrementalVerifier } from '../src/citations/stream/verifier.ts';
import { describeResponse, type Verification, type VerifyInput } from '../src/citations/verify.ts';
import { InputError } from './input-error.ts';

/** Verifies a response piece by piece. */
export type Verifier = IncrementalVerifier;

/**
 * Parses and checks the citations of a response without a judge: claims, invented ids, malformed tags, numbers that no
 * cited source has. Linear in the texts; with lexical evidence also in the texts that each claim cites, which are limited
 * like those of a request.
 *
 * @example
 * ```ts
 * import { verifyCitations } from 'citeward';
 *
 * const { claims, findings } = verifyCitations({
 *   response: '<answer><snippet id=S1,S9>It opened in 1937.</snippet></answer>',
 *   tool_output: '<snippet id=S1>The bridge opened on 27 May 1937.</snippet>',
 * });
 * console.log(claims.length, findings.filter(({ reason }) => reason === 'citation_id_unknown').length);
 * ```
 * @param options.evidence `lexical` also compares each claim with its sources by words. Default `lexical`.
 * @throws InputError unless exactly one of `tool_output` and `sources` is given, and for an answer beyond the limits.
 */
export function verifyCitations(
  input: VerifyInput,
  { evidence = 'lexical' }: { readonly evidence?: 'none' | 'lexical' } = {},
): Verification {
  const { response, mode = 'full', citations, question, grammar, answer } = input;
  const sources = sourcesOf(originOf(input));
  const parsed = parseResponse(response, sources, {
    ...(grammar === undefined ? {} : { grammar }),
    ...(answer === undefined ? {} : { answer }),
  });
  const problems = sizeProblems(parsed, sources, input.tool_output === undefined ? 'sources' : 'tool_output');
  if (problems.length > 0) throw new InputError(problems);
  return describeResponse(response, parsed, sources, { mode, evidence, citations, question });
}

/**
 * Verifies a response while it is generated: reports a claim or a finding as soon as it is certain, an invented id with
 * the push that completes its tag.
 *
 * @example
 * ```ts
 * import { createVerifier } from 'citeward';
 *
 * const verifier = createVerifier({ tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>' });
 * for (const piece of ['<answer><snippet id=S7>It is ', '300 km long.</snippet></answer>']) {
 *   for (const event of verifier.push(piece)) console.log(event.type);
 * }
 * const { parsed } = verifier.finish();
 * ```
 * @throws InputError unless exactly one of `tool_output` and `sources` is given.
 */
export function createVerifier(input: Omit<VerifyInput, 'response'>): Verifier {
  const { tool_output: _tools, sources: _listed, ...options } = input;
  return createIncrementalVerifier({ ...options, sources: sourcesOf(originOf(input)), evidence: 'lexical' });
}

function originOf({ tool_output, sources }: Pick<VerifyInput, 'tool_output' | 'sources'>) {
  if (tool_output !== undefined && sources === undefined) return { tool_output };
  if (sources !== undefined && tool_output === undefined) return { sources };
  throw new InputError([{ path: ['tool_output'], message: 'expected exactly one of "tool_output" and "sources"' }]);
}
