/** The name under which dr-tulu logs and buffers a rubric. */
import { md5 } from '@noble/hashes/legacy.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export type Rubric = { readonly description: string; readonly weight: number; readonly title?: string };

const KEY_HEX_DIGITS = 12;

/**
 * The first 12 hex digits of the MD5 of `question||description||title` in UTF-8, without the weight. An identifier, not
 * a security measure; the reference uses MD5. Source: rlresearch/dr-tulu 6188f34c, `rubric_utils.py`.
 */
export function rubricKey(question: string, rubric: Pick<Rubric, 'description' | 'title'>): string {
  const named = `${question}||${rubric.description}||${rubric.title ?? ''}`;
  return bytesToHex(md5(new TextEncoder().encode(named))).slice(0, KEY_HEX_DIGITS);
}
