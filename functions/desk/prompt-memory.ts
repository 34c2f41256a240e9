/** How much prompt text a desk holds at once. Batches leave a quarter to live calls; beyond it a call is refused, not queued. */
import type { CallClass } from '../../src/judgments/desk.ts';
import type { JudgmentRequest } from '../../src/judgments/types.ts';

/** Text of the requests that wait or run in one desk, in bytes of UTF-8; an object has 128 MB. */
export const MAX_PROMPT_BYTES_IN_FLIGHT = 32 * 1024 * 1024;
/** The share of slots and prompt memory that batches leave to callers who wait. */
export const LIVE_RESERVE_SHARE = 1 / 4;

export type PromptMemoryOptions = { readonly bytes: number; readonly liveReserve: number };

export class PromptMemory {
  readonly #options: PromptMemoryOptions;
  #held = 0;

  constructor(options: PromptMemoryOptions) {
    this.#options = options;
  }

  /** Takes room for a prompt; what was taken is given back with `release`. */
  take(bytes: number, callClass: CallClass): boolean {
    const limit = callClass === 'batch' ? this.#options.bytes * (1 - this.#options.liveReserve) : this.#options.bytes;
    if (this.#held + bytes > limit) return false;
    this.#held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}

/** Bytes of the texts of a request in UTF-8, near enough: half a surrogate pair counts as three. */
export function promptBytes(request: JudgmentRequest): number {
  return bytesOf(request);
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 0;
  for (const member of Object.values(value)) bytes += bytesOf(member);
  return bytes;
}

function textBytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) bytes += unit > 0x7ff ? 2 : 1;
  }
  return bytes;
}
