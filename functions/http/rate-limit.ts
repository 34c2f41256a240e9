/**
 * Limits the requests of each key by the platform's rate limit bindings, one for each tier. A binding that is not
 * configured limits nothing. The platform counts per location and roughly, so this keeps one caller from crowding out
 * the others; budgets bound what a project spends.
 */

import { RequestError } from '../../service/failures.ts';
import type { RateTier } from '../../src/wire/api-keys.ts';
import type { Environment } from '../environment.ts';
import type { Principal } from './context.ts';

/** The period that docs/guides/projects.md asks bindings to have. A reply names it: a binding does not tell its own. */
const PERIOD_S = 10;

/** Counts a request. @throws RequestError if the caller sends too many. */
export async function checkRate(environment: Environment, { id, tier }: Principal): Promise<void> {
  const binding = bindingOf(environment, tier);
  if (binding === undefined) return;
  const { success } = await binding.limit({ key: id });
  if (!success) throw new RequestError({ reason: 'rate_limited', retry_after_s: PERIOD_S });
}

function bindingOf(environment: Environment, tier: RateTier): RateLimit | undefined {
  switch (tier) {
    case 'standard':
      return environment.RATE_LIMIT_STANDARD;
    case 'high':
      return environment.RATE_LIMIT_HIGH;
  }
}
