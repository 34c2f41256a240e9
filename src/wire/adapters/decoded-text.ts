/**
 * The response inside a decoded prompt and response: OpenRLHF sends the text of all tokens, special ones included.
 * Source: OpenRLHF/OpenRLHF 3c3be623, `openrlhf/utils/agent.py`, `SingleTurnAgentExecutor`.
 */

/** Tokens that end a turn or a text, as tokenizers of chat models decode them. */
const END_TOKENS = [
  '<|im_end|>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end_of_text|>',
  '<|end|>',
  '<|return|>',
  '<|endofturn|>',
  '<end_of_turn>',
  '<eos>',
  '</s>',
  '<｜end▁of▁sentence｜>',
] as const;

/** What follows the prompt, without the tokens at its end. @param query the decoded prompt and response. */
export function decodedResponse(query: string, prompt: string): string {
  return withoutEndTokens(query.slice(promptEnd(query, prompt)));
}

/**
 * Where the prompt ends in the query. A prompt that was too long has lost its beginning before it was decoded: then what
 * is left of it, its longest end with which the query begins. 0 where the query holds nothing of it.
 */
function promptEnd(query: string, prompt: string): number {
  return query.startsWith(prompt) ? prompt.length : longestOverlap(prompt, query);
}

/** A shorter common piece may be chance. Every chat template ends a prompt with about this much. */
const MIN_OVERLAP_CHARS = 16;

/** Length of the longest end of `text` with which `start` begins (Knuth, Morris, Pratt 1977): linear. */
function longestOverlap(text: string, start: string): number {
  const tail = text.slice(Math.max(0, text.length - start.length));
  const borders = new Int32Array(tail.length);
  let matched = 0;
  for (let i = 1; i < tail.length; i++) {
    while (matched > 0 && start.charCodeAt(i) !== start.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (start.charCodeAt(i) === start.charCodeAt(matched)) matched++;
    borders[i] = matched;
  }
  matched = 0;
  for (let i = 0; i < tail.length; i++) {
    while (matched > 0 && tail.charCodeAt(i) !== start.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (tail.charCodeAt(i) === start.charCodeAt(matched)) matched++;
  }
  return matched < MIN_OVERLAP_CHARS ? 0 : matched;
}

function withoutEndTokens(text: string): string {
  let end = text.length;
  for (;;) {
    let last = end;
    while (last > 0 && text.charAt(last - 1).trim() === '') last--;
    const token = END_TOKENS.find((one) => text.endsWith(one, last));
    if (token === undefined) return text.slice(0, end);
    end = last - token.length;
  }
}
