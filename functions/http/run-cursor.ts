/** Where a page of rollouts begins, as opaque text: the place of the last one of the page before. */
import * as z from 'zod';
import type { RowPosition } from '../ledger/run-rows.ts';

const cursorSchema = z.tuple([z.int(), z.string(), z.string(), z.int()]);

/** Base64url of its JSON in UTF-8. */
export function writeCursor({ step, group, sample, attempt }: RowPosition): string {
  const bytes = new TextEncoder().encode(JSON.stringify([step, group, sample, attempt]));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

export function readCursor(text: string): RowPosition | 'malformed' {
  let value: unknown;
  try {
    const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    value = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DOMException) return 'malformed';
    throw error;
  }
  const parsed = cursorSchema.safeParse(value);
  if (!parsed.success) return 'malformed';
  const [step, group, sample, attempt] = parsed.data;
  return { step, group, sample, attempt };
}
