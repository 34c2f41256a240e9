/** Checks that the backend streams as the Worker expects, and stops generating when the reader disconnects. */
import { openStream, streamChat } from '../chat.ts';
import { type Finding, fail, notReported, pass, type Requirement } from '../finding.ts';
import type { EngineMetrics } from '../metrics.ts';
import { type Probe, pauseMs, proseBody } from '../probe.ts';
import { dropSeenInLatency } from './drop-latency.ts';

export const STREAM: Requirement = {
  id: 'stream',
  title: 'streams have text, a finish reason and usage',
  change:
    'Put nothing in front that buffers (nginx: proxy_buffering off), and send stream_options.include_usage through.',
};

/** Least duration that distinguishes a stream from a reply that arrives at once. */
const TELLING_MS = 1_000;

export async function checkStream(probe: Probe): Promise<Finding> {
  const stream = await streamChat(probe.target, proseBody(probe, 96, { seed: 3 }));
  const { pieces, finish_reason, usage, ms } = stream;
  const firstMs = stream.first_ms ?? ms;
  const problems: string[] = [];
  if (!stream.content_type.includes('text/event-stream')) problems.push(`content type "${stream.content_type}"`);
  if (stream.error !== null) problems.push(`an error inside the stream: ${stream.error}`);
  if (pieces < 2) problems.push(`${pieces} pieces of text`);
  if (finish_reason === null) problems.push('no finish_reason, so an interrupted answer looks complete');
  else if (!['stop', 'length'].includes(finish_reason)) problems.push(`finish_reason "${finish_reason}"`);
  if (usage === null) problems.push('no usage');
  if (ms > TELLING_MS && firstMs > 0.9 * ms) problems.push('all text arrived at once, so a proxy buffers the stream');
  if (problems.length > 0) return fail(STREAM, problems.join('; '));
  const marker = stream.done_marker ? '' : ', no [DONE]';
  return pass(STREAM, `${pieces} pieces, "${finish_reason}", usage${marker}; first after ${Math.round(firstMs)} ms`);
}

export const DROP: Requirement = {
  id: 'dropped_stream',
  title: 'a dropped stream frees its slot',
  change:
    'The disconnect does not reach the engine: take out buffering proxies (nginx: proxy_ignore_client_abort off, proxy_buffering off). Check vLLM itself with --url on the GPU host.',
};

const STREAMS = 4;
const LONG_TOKENS = 6_000;
const FREED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;

/** Opens long streams, drops them after their first text, and reads the engine's count of running requests. */
export async function checkDroppedStream(probe: Probe): Promise<Finding> {
  const before = await probe.metrics();
  if (before === null) return dropSeenInLatency(probe, DROP);
  if (before.requests > 0) {
    return notReported(
      DROP,
      `${before.requests} other requests are under way`,
      'Run the check while the backend is idle.',
    );
  }
  await startAndDrop(probe, STREAMS);
  const dropped = performance.now();
  for (;;) {
    const now = await probe.metrics();
    const ms = Math.round(performance.now() - dropped);
    if (now !== null && now.requests <= before.requests) return freed(before, now, ms);
    if (ms > FREED_WITHIN_MS) {
      return fail(DROP, `by /metrics: ${now?.requests ?? 'unknown'} requests under way ${ms} ms after the drop`);
    }
    await pauseMs(LOOK_EVERY_MS);
  }
}

/** A slot also becomes free when its stream ends normally; the number of tokens distinguishes the two. */
function freed(before: EngineMetrics, now: EngineMetrics, ms: number): Finding {
  const asked = STREAMS * LONG_TOKENS;
  if (before.generated_tokens === null || now.generated_tokens === null) {
    return pass(DROP, `by /metrics: ${STREAMS} streams gone within ${ms} ms`);
  }
  const generated = now.generated_tokens - before.generated_tokens;
  const saw = `by /metrics: idle ${ms} ms after the drop of ${STREAMS} streams, ${generated} of ${asked} tokens generated`;
  return generated < 0.9 * asked ? pass(DROP, saw) : fail(DROP, saw);
}

async function startAndDrop(probe: Probe, count: number): Promise<void> {
  const body = proseBody(probe, LONG_TOKENS, { ignore_eos: true });
  await Promise.all(
    Array.from({ length: count }, async () => {
      const stream = await openStream(probe.target, body);
      try {
        await stream.events().next();
      } finally {
        stream.drop();
      }
    }),
  );
}
