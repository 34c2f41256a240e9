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

it('an object without events, in many pieces, is read in linear time', async () => {
  const piece = new TextEncoder().encode('x'.repeat(4_096));
  const processorMs = async (pieces: number): Promise<number> => {
    let left = pieces;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(left === pieces ? new TextEncoder().encode(' {') : piece);
        if (--left === 0) controller.close();
      },
    });
    let length = 0;
    const before = process.threadCpuUsage();
    const end = await readEvents(body, 1 << 23, ({ length: read }) => {
      length = read;
      return 'more';
    });
    const { user, system } = process.threadCpuUsage(before);
    expect({ end, length }).toEqual({ end: 'ended', length: 1 + (pieces - 1) * 4_096 });
    return (user + system) / 1000;
  };
  const ratios: number[] = [];
  while (ratios.length < 5 && Math.min(...ratios) >= 24) {
    const small = Math.max(2, await processorMs(125));
    ratios.push((await processorMs(1_000)) / small);
  }
  expect(Math.min(...ratios)).toBeLessThan(24);
});
