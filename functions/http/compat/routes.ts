/**
 * `/compat/*`: drop-ins for the grounding APIs of vendors. A client changes its base URL and its key; requests, replies
 * and errors are in the vendor's shape (docs/guides/drop-ins.md).
 */
import { Hono } from 'hono';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import { azureGrounding, azureQuerySchema, azureReply, azureRequestSchema } from '../../../src/wire/compat/azure.ts';
import { bedrockGrounding, bedrockReply, bedrockRequestSchema, guardrailOf } from '../../../src/wire/compat/bedrock.ts';
import {
  googleGrounding,
  googleQuerySchema,
  googleReply,
  googleRequestSchema,
} from '../../../src/wire/compat/google.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { requireScope } from '../auth.ts';
import { readJson, readQuery } from '../body.ts';
import type { AppEnvironment, Context } from '../context.ts';
import { checked } from './check.ts';

export const compatRoutes = new Hono<AppEnvironment>()
  .post('/compat/azure/contentsafety/text:detectGroundedness', requireScope('score'), async (c) => {
    readQuery(c, azureQuerySchema);
    const request = await readJson(c, azureRequestSchema);
    const grounding = await checked(c, azureGrounding(request), { field: 'text', keepReasons: request.reasoning });
    return c.json(azureReply(request, grounding));
  })
  .post('/compat/bedrock/guardrail/:guardrail/version/:version/apply', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const request = await readJson(c, bedrockRequestSchema);
    const guardrail = guardrailOf(c.req.param('guardrail'));
    const grounding = bedrockGrounding(request, guardrail);
    if (!grounding.ok) throw invalidInput(['content'], grounding.error);
    return c.json(bedrockReply(request, guardrail, await checked(c, grounding.value, { field: 'content' })));
  })
  .post(
    '/compat/google/:version/projects/:project/locations/:location/groundingConfigs/:check',
    requireScope('score'),
    async (c) => checkGrounding(c, c.req.param()),
  )
  // Google's clients take a host and no path.
  .post('/:version/projects/:project/locations/:location/groundingConfigs/:check', requireScope('score'), async (c) =>
    checkGrounding(c, c.req.param()),
  );

const GOOGLE_VERSION = /^v1(?:alpha|beta)?$/;

async function checkGrounding(c: Context, { version, check }: { version: string; check: string }): Promise<Response> {
  if (!GOOGLE_VERSION.test(version) || !check.endsWith(':check')) throw new RequestError({ reason: 'route_unknown' });
  readQuery(c, googleQuerySchema);
  const request = await readJson(c, googleRequestSchema);
  return c.json(googleReply(request, await checked(c, googleGrounding(request), { field: 'answerCandidate' })));
}
