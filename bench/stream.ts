/**
 * `npm run bench`: the incremental verifier on a token stream. Measures its time relative to parsing and
 * forwarding the same lines, the delay in chunks until it reports an invented id, and its memory after 10 MB.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parseSources } from '../src/citations/sources.ts';
import { createIncrementalVerifier } from '../src/citations/stream/verifier.ts';
import type { SourceSet } from '../src/citations/types.ts';
import { timeTogether } from './measure.ts';
import { typicalRollout } from './typical-rollout.ts';

/** A token is about four characters of English. */
const TOKEN_CHARS = 4;
const STREAM_CHARS = 10_000_000;
const SHORT_STREAM_CHARS = STREAM_CHARS / 10;

function chunksOf(text: string, chars: number): string[] {
  return Array.from({ length: Math.ceil(text.length / chars) }, (_, n) => text.slice(n * chars, (n + 1) * chars));
}

function deltaOf(line: string): string {
  const { delta }: { delta: string } = JSON.parse(line);
  return delta;
}

function passOn(lines: readonly string[]): number {
  let chars = 0;
  for (const line of lines) chars += deltaOf(line).length;
  return chars;
}

function verify(lines: readonly string[], sources: SourceSet, evidence: 'none' | 'lexical'): number {
  const verifier = createIncrementalVerifier({ sources, evidence });
  let events = 0;
  for (const line of lines) events += verifier.push(deltaOf(line)).length;
  return events;
}

/** Delays in chunks from the end of an invented citation's opening tag to the event that reports it. */
function delays(response: string, sources: SourceSet, chars: number): number[] {
  const invented = response.replaceAll(/<snippet id="?[^">]*"?>/gu, '<snippet id="none-such">');
  const verifier = createIncrementalVerifier({ sources });
  const ends: number[] = [];
  const reported: number[] = [];
  let text = '';
  for (const [n, chunk] of chunksOf(invented, chars).entries()) {
    text += chunk;
    while (ends.length < (text.match(/<snippet id="none-such">/gu) ?? []).length) ends.push(n);
    for (const event of verifier.push(chunk)) {
      if (event.type === 'finding' && event.reason === 'citation_id_unknown') reported.push(n);
    }
  }
  if (ends.length === 0 || reported.length !== ends.length) throw new Error('an invented id was not reported');
  return reported.map((n, position) => n - (ends[position] ?? Number.NaN));
}

/** Heap bytes that a verifier retains after a stream, including the text. */
function heldBytes(unit: string, sources: SourceSet, streamChars: number): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  const before = process.memoryUsage().heapUsed;
  const verifier = createIncrementalVerifier({ sources });
  verifier.push('<answer>');
  const chunks = chunksOf(unit, TOKEN_CHARS);
  for (let chars = 0; chars < streamChars; chars += unit.length) for (const chunk of chunks) verifier.push(chunk);
  collect();
  const held = process.memoryUsage().heapUsed - before;
  verifier.push('</answer>');
  return held;
}

const rollout = typicalRollout();
const sources = parseSources(rollout.tool_output);
const lines = chunksOf(rollout.response, TOKEN_CHARS).map((delta) => JSON.stringify({ delta }));
const timings = await timeTogether([
  { name: 'parse and forward the lines', run: () => passOn(lines) },
  { name: 'verify, structural', run: () => verify(lines, sources, 'none') },
  { name: 'verify, lexical evidence', run: () => verify(lines, sources, 'lexical') },
]);
const baseline = timings[0]?.median_us ?? Number.NaN;

console.log(`Typical response: ${rollout.response.length} characters in ${lines.length} chunks\n`);
for (const { name, median_us, spread } of timings) {
  const ratio = (median_us / baseline).toFixed(2).padStart(6);
  const each = ((1000 * median_us) / lines.length).toFixed(0);
  console.log(`${name.padEnd(34)} ${ratio} x  (${each} ns per chunk, ±${(100 * spread).toFixed(0)}%)`);
}
const late = [1, 3, TOKEN_CHARS, 50].flatMap((chars) => delays(rollout.response, sources, chars));
console.log(`\nDelay until an invented id is reported: at most ${Math.max(...late)} chunks (${late.length} ids)`);
for (const [name, unit] of [
  ['claims', '<snippet id=W1>The canal opened to ships in August 1914.</snippet> It is long. '],
  ['plain text', 'The canal opened to ships in August 1914, and it is long. '],
] as const) {
  const short = heldBytes(unit, sources, SHORT_STREAM_CHARS) / SHORT_STREAM_CHARS;
  const long = heldBytes(unit, sources, STREAM_CHARS) / STREAM_CHARS;
  const ratio = (long / short).toFixed(2);
  console.log(
    `Memory after ${STREAM_CHARS / 1e6} MB of ${name}: ${long.toFixed(2)} bytes per character, ${ratio} x that of 1 MB`,
  );
}
