/** Verifying rows: in this process, or by a Worker. No judge either way. */

import type { Client } from '../../clients/typescript/client.ts';
import type { Verification } from '../../src/citations/verify.ts';
import { pathText } from '../../src/input-problem.ts';
import type { VerifyRequest } from '../../src/wire/verify.ts';
import { verifyRequested } from '../../src/wire/verify.ts';
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
      const result = verifyRequested(request, evidence);
      if (result.ok) return { kind: 'done', reply: result.verification };
      const problems = result.problems.map(({ path, message }) => ({ field: pathText(path), message }));
      return { kind: 'refused', problems };
    },
  };
}
