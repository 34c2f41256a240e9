/** The end of a body under Node, whose streams follow the standard to the letter: an errored one refuses to be cancelled. */
import { expect, it } from 'vitest';
import { BrokenBodyError, readEvents } from '../../../lib/model-servers/calls/response-body.ts';

/** A body that breaks some milliseconds after its events. */
function breaking(...events: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const event of events) controller.enqueue(new TextEncoder().encode(`data: ${event}\n\n`));
      setTimeout(() => controller.error(new Error('reset')), 10);
    },
  });
}

const untilDone = (data: string): 'more' | 'complete' => (data === '[DONE]' ? 'complete' : 'more');

it('a connection that breaks after the last event takes nothing', async () => {
  expect(await readEvents(breaking('one', '[DONE]'), 1_000, untilDone)).toBe('complete');
});

it('a connection that breaks before the last event breaks the reply', async () => {
  await expect(readEvents(breaking('one'), 1_000, untilDone)).rejects.toThrow(BrokenBodyError);
});
