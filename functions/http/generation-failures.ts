/**
 * How failed generations go over the wire: 503 where the same request may succeed later (and where nobody generates here at
 * all), 502 where the backend has answered and would answer the same again, 422 where the request is too long for it. The
 * details are constants of ours (functions/backends/calls/failures.ts): nothing of what a caller or a backend said.
 */
import type { GenerationFailure, GenerationFailureReason } from '../../src/generation/generator.ts';
import { DEFAULT_RETRY_AFTER_S } from '../../src/limits.ts';
import type { Wire } from './errors.ts';

const STATUS_AND_TITLE: Readonly<
  Record<GenerationFailureReason, { readonly status: 422 | 502 | 503; readonly title: string }>
> = {
  generator_unconfigured: { status: 503, title: 'No generator is configured' },
  generator_timeout: { status: 503, title: 'The generator took too long' },
  generator_unreachable: { status: 503, title: 'The generator is unreachable' },
  generator_interrupted: { status: 503, title: 'The generator broke off' },
  generator_rate_limited: { status: 503, title: 'The generator is rate limited' },
  generator_overloaded: { status: 503, title: 'The generator is overloaded' },
  generator_error: { status: 503, title: 'The generator failed' },
  generator_unauthorized: { status: 502, title: 'The generator refused our credentials' },
  generator_request_refused: { status: 502, title: 'The generator refused the request' },
  generator_not_an_api: { status: 502, title: 'The generator answered with something else' },
  generator_prompt_too_long: { status: 422, title: 'Too long for the generator' },
  generator_reply_too_large: { status: 502, title: "The generator's reply is too large" },
  generator_refusal: { status: 502, title: 'The generator refused to answer' },
  generator_model_mismatch: { status: 502, title: 'Another model answered' },
};

export function wireOfGenerationFailure({ reason, detail, retryable, retry_after_s }: GenerationFailure): Wire {
  const seconds = retry_after_s ?? DEFAULT_RETRY_AFTER_S;
  return {
    reason,
    ...STATUS_AND_TITLE[reason],
    detail,
    retryable,
    // Without retryable there is no time after which a retry makes sense.
    ...(retryable ? { headers: { 'retry-after': String(Math.ceil(seconds)) } } : {}),
  };
}
