/** Measures how long callers wait: a few concurrent streamed requests. Not a benchmark; it shows gross faults. */
import { failureText, streamChat } from '../chat.ts';
import { type Finding, fail, pass, type Requirement } from '../finding.ts';
import { type Probe, proseBody, quantile } from '../probe.ts';

export const LATENCY: Requirement = {
  id: 'latency',
  title: 'answers come in time under a little load',
  change:
    'The Worker gives up after 100 s. Raise --max-num-seqs, lower --max-model-len, or add a replica behind a router.',
};

const REQUESTS = 12;
const AT_ONCE = 4;
const TOKENS = 64;
const LIMIT_MS = 100_000;

export async function checkLatency(probe: Probe): Promise<Finding> {
  const firsts: number[] = [];
  const totals: number[] = [];
  const failures: string[] = [];
  let started = 0;
  const worker = async (): Promise<void> => {
    while (started < REQUESTS) {
      const seed = started++;
      try {
        const stream = await streamChat(probe.target, proseBody(probe, TOKENS, { seed }));
        if (stream.finish_reason === null) failures.push('a stream without an end');
        firsts.push(stream.first_ms ?? stream.ms);
        totals.push(stream.ms);
      } catch (error) {
        failures.push(failureText(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (failures.length > 0) return fail(LATENCY, `${failures.length} of ${REQUESTS} failed: ${failures[0]}`);
  const saw =
    `${REQUESTS} requests, ${AT_ONCE} at a time: first token p50 ${ms(firsts, 0.5)}, p95 ${ms(firsts, 0.95)}; ` +
    `total p50 ${ms(totals, 0.5)}, p95 ${ms(totals, 0.95)}`;
  return quantile(totals, 0.95) <= LIMIT_MS ? pass(LATENCY, saw) : fail(LATENCY, saw);
}

function ms(values: readonly number[], q: number): string {
  return `${Math.round(quantile(values, q))} ms`;
}
