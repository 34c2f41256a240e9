/** A verification as it is asked for on the wire: by the route, by a batch and by the command line. */
import { parseResponse } from '../citations/parse.ts';
import { sizeProblems } from '../citations/size.ts';
import { sourcesOf } from '../citations/sources.ts';
import { toUtf8Offsets } from '../citations/utf8-offsets.ts';
import { describeResponse, type Verification } from '../citations/verify.ts';
import { rolloutSources } from '../family/rollout-schema.ts';
import type { InputProblem } from '../input-problem.ts';
import type { VerifyRequest } from './verify.ts';

export type VerificationResult =
  | { readonly ok: true; readonly verification: Verification }
  /** The request does not fit the limits. */
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** @param offsets UTF-16 code units into the texts that were sent, or bytes of their UTF-8. */
export function verifyRequested(
  request: VerifyRequest,
  evidence: 'none' | 'lexical',
  offsets: 'utf16' | 'utf8' = 'utf16',
): VerificationResult {
  const { response, grammar, answer, mode, tool_output } = request;
  const sources = sourcesOf(rolloutSources(request));
  const parsed = parseResponse(response, sources, { grammar, ...(answer === undefined ? {} : { answer }) });
  const problems = sizeProblems(parsed, sources, tool_output === undefined ? 'sources' : 'tool_output');
  if (problems.length > 0) return { ok: false, problems };
  const verification = describeResponse(response, parsed, sources, mode, evidence);
  switch (offsets) {
    case 'utf16':
      return { ok: true, verification };
    case 'utf8': {
      const texts = {
        response,
        ...(tool_output === undefined ? {} : { tool_output }),
        sources: sources.list.map(({ text }) => text),
      };
      return { ok: true, verification: toUtf8Offsets(verification, texts) };
    }
  }
}
