/**
 * The text of the fake model for requests without a schema: an answer in the refiners' format that says that it is fake
 * and cites nothing, whole or streamed in Workers AI's own format.
 */

/** The words, each with its trailing space. The fake counts a word as a token. */
const WORDS =
  '<answer>This is the fake model of local development. It has read nothing, so it cites nothing.</answer>'.split(
    /(?<= )/,
  );

export type Usage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
};

/**
 * Streams the text as server-sent events, each created on demand.
 * @param max_tokens limit of words.
 */
export function spokenStream(max_tokens: number, prompt_tokens: number): ReadableStream<Uint8Array> {
  const words = WORDS.slice(0, max_tokens);
  const usage: Usage = {
    prompt_tokens,
    completion_tokens: words.length,
    total_tokens: prompt_tokens + words.length,
  };
  const events = [
    ...words.map((response) => JSON.stringify({ response })),
    JSON.stringify({ response: '', usage }),
    '[DONE]',
  ];
  const encoder = new TextEncoder();
  let next = 0;
  return new ReadableStream({
    // Workers can pass only byte streams to each other.
    type: 'bytes',
    pull(controller) {
      const event = events[next++];
      if (event === undefined) controller.close();
      else controller.enqueue(encoder.encode(`data: ${event}\n\n`));
    },
  });
}

/** Returns the whole text. @param max_tokens limit of words. */
export function spokenText(max_tokens: number): string {
  return WORDS.slice(0, max_tokens).join('');
}
