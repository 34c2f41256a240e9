/**
 * The dialects and faults of the stub server (stub-backend.ts) for generators, whose requests have no schema.
 * backend-faults.ts holds those of judges and generators; this file holds those of generators only, and the failure
 * that each fault becomes.
 */
import type { GenerationFailureReason } from '../../src/generation/generator.ts';
import { type FaultRow, SERVER_FAULTS, type ServerFault } from './backend-faults.ts';

/** Dialects that only occur with generators. */
export const GENERATION_BEHAVIOURS = [
  // Two calls a choice, their arguments in pieces that interleave; `tool_call_cut`: the length ends in the second one.
  'tool_calls',
  'tool_call_cut',
  // Does not support `n`: returns one choice for any `n`, or refuses the request.
  'gives_one_choice',
  'refuses_n',
  // Writes until the caller disconnects; waits while the caller is slow.
  'endless',
  // The first choice ends, the second never does.
  'one_choice_stalls',
  // A tool call without a name.
  'nameless_call',
  // One event that is longer than any reply limit.
  'huge_event',
] as const;

export type GenerationBehaviour = (typeof GENERATION_BEHAVIOURS)[number];

export function isOfGenerators(behaviour: string): behaviour is GenerationBehaviour {
  return GENERATION_BEHAVIOURS.some((known) => known === behaviour);
}

/** The text that the stub's model writes for a seed. Choice i of a request gets the text of seed + i. */
export function sampleText(seed: number): string {
  return `<think>Seed ${seed}…</think><answer><snippet id=S1>Die Aare ist 288 km lang 🏞.</snippet> Nr. ${seed}.</answer>`;
}

/** The arguments of the two calls of a choice. */
export const CALL_ARGUMENTS = ['{"code": "print(1)"}', '{"code": "print(\\"🏞\\")"}'] as const;

export type GenerationFaultRow = {
  readonly reason: GenerationFailureReason;
  readonly retryable: boolean;
  readonly retry_after?: number;
  readonly retry_after_slack?: number;
};

/** Faults of judges only: their reply must be a complete judgment. */
const SAMPLES: Readonly<Partial<Record<ServerFault, string>>> = {
  finish_length: 'length',
  finish_repetition: 'repetition',
  finish_tool_calls: 'tool_calls',
  finish_unknown: 'unknown',
  null_content: 'stop',
};

/** Faults for a judge that are samples for a generator, with the finish reason of each. */
export const GENERATION_SAMPLES: readonly (readonly [string, string])[] = Object.entries(SAMPLES);

/** Maps the faults of a server to the failures of a generator. */
export const GENERATION_FAULTS: readonly (readonly [string, GenerationFaultRow])[] = [
  ...Object.entries(SERVER_FAULTS).flatMap(([name, row]) => {
    const reason = generatorReason(row);
    return reason === null || name in SAMPLES ? [] : [[name, { ...row, reason }] as const];
  }),
  ['gives_one_choice', { reason: 'generator_request_refused', retryable: false }],
  ['refuses_n', { reason: 'generator_request_refused', retryable: false }],
  ['one_choice_stalls', { reason: 'generator_timeout', retryable: true }],
  ['two_finishes', { reason: 'generator_error', retryable: true }],
  ['text_after_finish', { reason: 'generator_error', retryable: true }],
  ['one_choice_twice', { reason: 'generator_error', retryable: true }],
  ['nameless_call', { reason: 'generator_not_an_api', retryable: false }],
  ['huge_event', { reason: 'generator_reply_too_large', retryable: false }],
];

/** `null` if a generator has no such fault. */
function generatorReason({ reason }: FaultRow): GenerationFailureReason | null {
  switch (reason) {
    case 'judge_timeout':
      return 'generator_timeout';
    case 'judge_unreachable':
      return 'generator_unreachable';
    case 'judge_interrupted':
      return 'generator_interrupted';
    case 'judge_rate_limited':
      return 'generator_rate_limited';
    case 'judge_overloaded':
      return 'generator_overloaded';
    case 'judge_error':
      return 'generator_error';
    case 'judge_unauthorized':
      return 'generator_unauthorized';
    case 'judge_request_refused':
      return 'generator_request_refused';
    case 'judge_not_an_api':
      return 'generator_not_an_api';
    case 'judge_prompt_too_long':
      return 'generator_prompt_too_long';
    case 'judge_refusal':
      return 'generator_refusal';
    case 'judge_model_mismatch':
      return 'generator_model_mismatch';
    default:
      return null;
  }
}
