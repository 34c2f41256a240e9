/** What a prefix cache leaves to compute: of each prompt, what no earlier one began with. An ideal cache: it forgets nothing. */

/** @param tokensOf an estimate that may be computed of any part of a text. */
export function uncachedTokens(prompts: readonly string[], tokensOf: (text: string) => number): number {
  const seen: string[] = [];
  let tokens = 0;
  for (const prompt of prompts) {
    let shared = 0;
    for (const earlier of seen) shared = Math.max(shared, commonPrefix(prompt, earlier));
    tokens += tokensOf(prompt.slice(shared));
    seen.push(prompt);
  }
  return tokens;
}

function commonPrefix(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}
