/**
 * The call `AI.run` of Workers AI: the configuration of a model, the binding, its options, and the faults that it
 * throws.
 */
import {
  type BackendFault,
  backendFault,
  type JudgeFaultKind,
  type SharedFault,
} from '../../../lib/model-servers/calls/failures.ts';
import type { Generating, JudgeTimes, ModelConfig } from '../../../lib/model-servers/calls/model-config.ts';
import type { SchemaShape } from './model-families.ts';

type WorkersAi = ModelConfig & {
  readonly kind: 'workers-ai';
  /** The id of the AI Gateway; `null` = none. */
  readonly gateway_id: string | null;
};

/** A model of Workers AI that judges. */
export type WorkersAiConfig = WorkersAi &
  Pick<JudgeTimes, 'timeout_s'> & {
    /** The form of the JSON schema that the model expects (model-families.ts). */
    readonly schema_shape: SchemaShape;
  };

/** A model of Workers AI that generates. */
export type WorkersAiGeneratorConfig = WorkersAi & Generating;

export type AiRunOptions = {
  readonly signal: AbortSignal;
  readonly gateway?: {
    readonly id: string;
    readonly skipCache: boolean;
    readonly collectLog: boolean;
    readonly retries: { readonly maxAttempts: 1 };
  };
};

/** The part of the AI binding that this code uses. The fake of local development implements it too. */
export type AiBinding = {
  run(model: string, inputs: Readonly<Record<string, unknown>>, options: AiRunOptions): Promise<unknown>;
};

/**
 * Returns the options of a run. The gateway's cache is off, because cached replies would make replicates and samples
 * equal; its logs are off, because they would hold prompts; its retries are off, because the router retries.
 * @param gateway_id the AI Gateway; `null` = none.
 */
export function runOptions(gateway_id: string | null, signal: AbortSignal): AiRunOptions {
  if (gateway_id === null) return { signal };
  return { signal, gateway: { id: gateway_id, skipCache: true, collectLog: false, retries: { maxAttempts: 1 } } };
}

/** The free allocation is renewed at midnight UTC, so a retry per hour is enough. */
const ALLOCATION_RETRY_AFTER_S = 3_600;

/** Returns the fault of an error that a call in JSON mode threw. */
export function faultOfThrownJson(thrown: unknown): BackendFault<JudgeFaultKind> {
  if (messageOf(thrown).includes("JSON Mode couldn't be met")) {
    return backendFault('reply_invalid', 'Workers AI could not make the model keep to the JSON schema');
  }
  return faultOfThrown(thrown);
}

/**
 * Returns the fault of an error that the binding threw. Its message starts with Cloudflare's internal code (`3040:
 * ...`); the codes are documented on Workers AI's page of errors. The message itself is dropped.
 * @throws the error itself if the inputs cannot be serialised, which is a bug of the caller.
 */
export function faultOfThrown(thrown: unknown): SharedFault {
  if (thrown instanceof Error && thrown.name === 'DataCloneError') throw thrown;
  const code = codeIn(messageOf(thrown));
  if (code === null) return backendFault('unreachable', 'Workers AI cannot be reached');
  if (code === 3036) {
    return backendFault('rate_limited', "the account's daily allocation is used up", ALLOCATION_RETRY_AFTER_S);
  }
  return backendFault(kindOfCode(code), `Workers AI answered with its error ${code}`);
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : '';
}

/** Reads the internal code at the start of a message, also after the name of an error class. */
function codeIn(message: string): number | null {
  const code = /^(?:[A-Za-z]{1,40}: )?(\d{4}):/.exec(message)?.[1];
  return code === undefined ? null : Number(code);
}

function kindOfCode(code: number): SharedFault['kind'] {
  switch (code) {
    case 3007: // timeout
    case 3008: // aborted
      return 'timeout';
    case 3040: // out of capacity
      return 'overloaded';
    case 3006: // request too large
      return 'prompt_too_long';
    case 3023: // account blocked
    case 3041: // account not allowed for a private model
    case 5016: // model terms not agreed to
    case 5018: // account not allowed for a private model
      return 'unauthorized';
    case 3003: // incomplete request
    case 3039: // finetune without its files
    case 3042: // invalid model id
    case 5004: // invalid data
    case 5005: // no LoRA for this model
    case 5007: // no such model
    case 5019: // deprecated SDK
      return 'request_refused';
    default:
      return 'error';
  }
}
