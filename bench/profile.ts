/** `--profile`: samples each candidate of a benchmark for a second, and prints the ten functions that take longest. */
import { Session } from 'node:inspector/promises';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Candidate } from './measure.ts';

const SAMPLED_MS = 1_000;
const SAMPLE_EVERY_US = 100;
const SHOWN = 10;
const root = resolve(import.meta.dirname, '..');

/** Prints the widest frames of each candidate, by their own time without that of what they call. */
export async function printProfiles(candidates: readonly Candidate[]): Promise<void> {
  for (const candidate of candidates) {
    console.log(`\n${candidate.name.trim()}`);
    for (const { place, share } of (await widestFrames(candidate)).slice(0, SHOWN)) {
      console.log(`${(100 * share).toFixed(1).padStart(6)} %  ${place}`);
    }
  }
}

/** The functions of a candidate, the one with the largest share of the samples first. */
async function widestFrames({ run }: Candidate): Promise<{ readonly place: string; readonly share: number }[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
  await session.post('Profiler.start');
  const started = performance.now();
  while (performance.now() - started < SAMPLED_MS) await run();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const hits = new Map<string, number>();
  let all = 0;
  for (const { callFrame, hitCount = 0 } of profile.nodes) {
    const { functionName, url, lineNumber } = callFrame;
    const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url;
    const place = `${functionName || '(anonymous)'}${file === '' ? '' : ` ${file}:${lineNumber + 1}`}`;
    hits.set(place, (hits.get(place) ?? 0) + hitCount);
    all += hitCount;
  }
  return [...hits].map(([place, count]) => ({ place, share: count / all })).sort((a, b) => b.share - a.share);
}
