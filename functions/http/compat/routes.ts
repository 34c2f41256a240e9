/**
 * `/compat/*`: drop-ins for the grounding APIs of vendors. A client changes its base URL and its key; requests, replies
 * and errors are in the vendor's shape (docs/guides/drop-ins.md).
 */

import { invalidInput, RequestError } from '../../../service/failures.ts';
import { azureGrounding, azureReply, azureRequestSchema } from '../../../src/wire/compat/azure.ts';
import { bedrockGrounding, bedrockReply, bedrockRequestSchema, guardrailOf } from '../../../src/wire/compat/bedrock.ts';
import { googleGrounding, googleReply, googleRequestSchema } from '../../../src/wire/compat/google.ts';
import { readJson } from '../body.ts';
import type { Context } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';
import { checked } from './check.ts';

export const compatHandlers = {
  'POST /compat/azure/contentsafety/text:detectGroundedness': async (c) => {
    const request = await readJson(c, azureRequestSchema);
    const grounding = await checked(c, azureGrounding(request), { field: 'text', keepReasons: request.reasoning });
    return c.json(azureReply(request, grounding));
  },
  'POST /compat/bedrock/guardrail/{guardrail}/version/{version}/apply': async (c) => {
    const request = await readJson(c, bedrockRequestSchema);
    const guardrail = guardrailOf(pathParameter(c, 'guardrail'));
    const grounding = bedrockGrounding(request, guardrail);
    if (!grounding.ok) throw invalidInput(['content'], grounding.error);
    return c.json(bedrockReply(request, guardrail, await checked(c, grounding.value, { field: 'content' })));
  },
  'POST /compat/google/{version}/projects/{project}/locations/{location}/groundingConfigs/{check}': checkGrounding,
  // Google's clients take a host and no path.
  'POST /{version}/projects/{project}/locations/{location}/groundingConfigs/{check}': checkGrounding,
} satisfies Partial<Handlers>;

const GOOGLE_VERSION = /^v1(?:alpha|beta)?$/;

async function checkGrounding(c: Context): Promise<Response> {
  const isKnown = GOOGLE_VERSION.test(pathParameter(c, 'version')) && pathParameter(c, 'check').endsWith(':check');
  if (!isKnown) throw new RequestError({ reason: 'route_unknown' });
  const request = await readJson(c, googleRequestSchema);
  return c.json(googleReply(request, await checked(c, googleGrounding(request), { field: 'answerCandidate' })));
}
