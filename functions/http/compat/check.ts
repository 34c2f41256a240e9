/** Checks the text of a drop-in's request against its sources, with the default judge of the deployment. */

import { invalidInput, RequestError } from '../../../service/failures.ts';
import { ground } from '../../../service/ground.ts';
import { type Grounding, type GroundingRequest, groundingProblem } from '../../../src/scoring/grounding.ts';
import { splitSentences } from '../../../src/text/sentences.ts';
import { admitClaims } from '../body.ts';
import { type Context, grounded, platformOf } from '../context.ts';

/** @throws RequestError if the request exceeds a limit or the judge fails. @param field the text, as the vendor calls it. */
export async function checked(
  c: Context,
  request: GroundingRequest,
  { field, keepReasons = false }: { readonly field: string; readonly keepReasons?: boolean },
): Promise<Grounding> {
  const problem = groundingProblem(request);
  if (problem !== null) throw invalidInput([field], problem.message);
  if (!admitClaims(c, splitSentences(request.text).length)) throw new RequestError({ reason: 'overloaded' });
  return grounded(c, await ground(request, keepReasons, await platformOf(c)));
}
