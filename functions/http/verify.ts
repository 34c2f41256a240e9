/** `POST /v1/verify`: pure CPU. No binding is touched here (ARCHITECTURE.md rule 6). */
import { Hono } from 'hono';
import { parseResponse } from '../../src/citations/parse.ts';
import { sizeProblems } from '../../src/citations/size.ts';
import { sourcesOf } from '../../src/citations/sources.ts';
import { toUtf8Offsets } from '../../src/citations/utf8-offsets.ts';
import { describeResponse, type Verification } from '../../src/citations/verify.ts';
import { rolloutSources } from '../../src/schema/rollout.ts';
import { type VerifyRequest, verifyQuerySchema, verifyRequestSchema } from '../../src/schema/verify.ts';
import { requireScope } from './auth.ts';
import { readJson, readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { RequestError } from './errors.ts';

export const verifyRoutes = new Hono<AppEnvironment>().post('/v1/verify', requireScope('verify'), async (c) => {
  const query = readQuery(c, verifyQuerySchema);
  const request = await readJson(c, verifyRequestSchema);
  return c.json(verify(request, query.evidence, query.offsets));
});

function verify(request: VerifyRequest, evidence: 'none' | 'lexical', offsets: 'utf16' | 'utf8'): Verification {
  const { response, grammar, answer, mode, tool_output } = request;
  const sources = sourcesOf(rolloutSources(request));
  const parsed = parseResponse(response, sources, { grammar, ...(answer === undefined ? {} : { answer }) });
  const problems = sizeProblems(parsed, sources, tool_output === undefined ? 'sources' : 'tool_output');
  if (problems.length > 0) throw new RequestError({ reason: 'input_invalid', problems });
  const verification = describeResponse(response, parsed, sources, mode, evidence);
  switch (offsets) {
    case 'utf16':
      return verification;
    case 'utf8':
      return toUtf8Offsets(verification, {
        response,
        ...(tool_output === undefined ? {} : { tool_output }),
        sources: sources.list.map(({ text }) => text),
      });
  }
}
