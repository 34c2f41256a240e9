/** Verifying rows: in this process, or by a Worker. No judge either way. */
import { type Verification, verifyCitations } from '../../src/citations/verify.ts';
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
      const { response, grammar, answer, mode } = request;
      const input = {
        ...rolloutSources(request),
        response,
        grammar,
        mode,
        ...(answer === undefined ? {} : { answer }),
      };
      return { kind: 'done', reply: verifyCitations(input, { evidence }) };
    },
  };
}
