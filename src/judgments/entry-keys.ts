/** How the entries of a citations request are called in prompt, schema and reply. */

/** Key of a claim in prompt and reply: `k1`…`kn` in the order of the request. */
export function claimKey(position: number): string {
  return `k${position + 1}`;
}

/** Key of an uncited statement in prompt and reply: `u1`…`un` in the order of the request. */
export function statementKey(position: number): string {
  return `u${position + 1}`;
}
