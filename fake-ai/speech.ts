/**
 * What the fake model says where no schema asks for anything: an answer in the refiners' format that says what it is and
 * cites nothing, streamed as Workers AI streams its own shape.
 */

/** Each word with the space behind it. A word is a token here. */
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
 * Server-sent events, each written when it is asked for.
 * @param max_tokens words at most.
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
    // Workers hand byte streams to each other, and no others.
    type: 'bytes',
    pull(controller) {
      const event = events[next++];
      if (event === undefined) controller.close();
      else controller.enqueue(encoder.encode(`data: ${event}\n\n`));
    },
  });
}

/** The same in one piece. */
export function spokenText(max_tokens: number): string {
  return WORDS.slice(0, max_tokens).join('');
}
