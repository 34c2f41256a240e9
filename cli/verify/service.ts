/** Verifying rows: in this process, or by a Worker. No judge either way. */
import { parseResponse } from '../../src/citations/parse.ts';
import { sizeProblems } from '../../src/citations/size.ts';
import { sourcesOf } from '../../src/citations/sources.ts';
import { describeResponse, type Verification } from '../../src/citations/verify.ts';
import { pathText } from '../../src/schema/issues.ts';
import { rolloutSources } from '../../src/schema/rollout.ts';
import type { VerifyRequest } from '../../src/schema/verify.ts';
import type { Client } from '../client/client.ts';
import type { Service } from '../outcome.ts';
import { REMOTE_CONCURRENCY } from '../remote/connect.ts';
import { outcomeOfFailure } from '../remote/failures.ts';

export type Evidence = 'none' | 'lexical';

export type VerifyService = Service<VerifyRequest, Verification>;

export function remoteVerification(client: Client, evidence: Evidence, flagFields: ReadonlySet<string>): VerifyService {
  return {
    notices: [],
    concurrency: REMOTE_CONCURRENCY,
    async handle(request) {
      const reply = await client.verify(request, { evidence });
      return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, flagFields);
    },
  };
}

export function localVerification(evidence: Evidence): VerifyService {
  return {
    notices: [],
    concurrency: 1,
    async handle(request) {
      const { response, grammar, answer, mode, tool_output } = request;
      const sources = sourcesOf(rolloutSources(request));
      const parsed = parseResponse(response, sources, { grammar, ...(answer === undefined ? {} : { answer }) });
      const problems = sizeProblems(parsed, sources, tool_output === undefined ? 'sources' : 'tool_output');
      if (problems.length > 0) {
        return { kind: 'refused', problems: problems.map(({ path, message }) => ({ field: pathText(path), message })) };
      }
      return { kind: 'done', reply: describeResponse(response, parsed, sources, mode, evidence) };
    },
  };
}
