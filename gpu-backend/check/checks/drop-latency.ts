/**
 * Checks from outside whether dropped streams free their slots: a short request is slower while long streams run, and
 * must be fast again after the streams are dropped. If load does not change the latency (a large server, few streams),
 * the result is `not_reported`. The engine's own metrics are more reliable; this check runs only if the metrics are not
 * reachable.
 */
import { BackendAnswer, chat, openStream } from '../chat.ts';
import { ConnectionError } from '../connection.ts';
import { type Finding, fail, notReported, pass, type Requirement } from '../finding.ts';
import { median, type Probe, pauseMs, proseBody } from '../probe.ts';

const STREAMS = 16;
const LONG_TOKENS = 6_000;
const SETTLE_MS = 1_000;
const PROBES = 3;
/** Time limit of a short request; under load it may wait for a slot until the streams end. */
const PROBE_MS = 5_000;
/** Load counts as visible if it slows a short request by this factor and by this many milliseconds. */
const CONTRAST = 3;
const CONTRAST_MS = 100;

const HINT = "Pass --metrics with the address of the engine's own /metrics, for instance on the GPU host.";

export async function dropSeenInLatency(probe: Probe, requirement: Requirement): Promise<Finding> {
  const idle = await shortRequestMs(probe);
  const load = new AbortController();
  const streams = Array.from({ length: STREAMS }, () => runLong(probe, load.signal));
  let loaded: number;
  try {
    await pauseMs(SETTLE_MS);
    loaded = await shortRequestMs(probe);
  } finally {
    load.abort();
  }
  const ends = await Promise.all(streams);
  await pauseMs(SETTLE_MS);
  const after = await shortRequestMs(probe);
  const numbers = `a short request takes ${ms(idle)} idle, ${ms(loaded)} beside ${STREAMS} streams, ${ms(after)} after their drop`;
  const endedEarly = ends.filter((end) => end !== 'dropped').length;
  if (endedEarly > 0) return notReported(requirement, `by latency: ${endedEarly} streams ended by themselves`, HINT);
  const shows = loaded >= CONTRAST * idle && loaded - idle >= CONTRAST_MS;
  if (!shows) return notReported(requirement, `by latency: load does not show; ${numbers}`, HINT);
  // The slots are free if the latency is closer to the idle time than to the loaded time, on a logarithmic scale.
  return after <= Math.sqrt(idle * loaded)
    ? pass(requirement, `by latency: ${numbers}`)
    : fail(requirement, `by latency: ${numbers}`);
}

function ms(value: number): string {
  return value >= PROBE_MS ? `over ${PROBE_MS} ms` : `${Math.round(value)} ms`;
}

/** Median of several requests; a request without a reply in time counts as the time limit. */
async function shortRequestMs(probe: Probe): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < PROBES; i++) {
    const started = performance.now();
    try {
      await chat(probe.target, proseBody(probe, 16), PROBE_MS);
    } catch (error) {
      if (!(error instanceof ConnectionError && error.reason === 'timeout')) throw error;
    }
    times.push(Math.min(performance.now() - started, PROBE_MS));
  }
  return median(times);
}

/** Runs a long stream until it ends, fails or is dropped; it may also be dropped while it waits for a slot. */
async function runLong(probe: Probe, signal: AbortSignal): Promise<'ended' | 'failed' | 'dropped'> {
  try {
    const stream = await openStream(probe.target, proseBody(probe, LONG_TOKENS, { ignore_eos: true }), signal);
    for await (const _event of stream.events()) {
      // Reads the stream, so that a full socket does not hold the server back.
    }
    return 'ended';
  } catch (error) {
    if (error instanceof ConnectionError) return error.reason === 'dropped' ? 'dropped' : 'failed';
    if (error instanceof BackendAnswer) return 'failed';
    throw error;
  }
}
