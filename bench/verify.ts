/**
 * `npm run bench`: time to parse and verify a typical rollout, relative to `JSON.parse` of the same request
 * body. Targets: at most 1x without evidence, at most 8x with lexical evidence. A vendor's blocks must be converted in
 * at most twice the time that the parser of our tags takes for the same answer.
 */

import { verifyCitations } from '../lib/verify.ts';
import { readCitedAnswer } from '../src/citations/formats/read-answer.ts';
import { parseResponse } from '../src/citations/parse.ts';
import { parseSources } from '../src/citations/sources.ts';
import { timeTogether } from './measure.ts';
import { typicalRollout } from './typical-rollout.ts';

const rollout = typicalRollout();
const input = { response: rollout.response, tool_output: rollout.tool_output };
const body = JSON.stringify(input);
const sources = parseSources(input.tool_output);

/** The same answer as content blocks of the Messages API, with its sources in the request. */
const blocks = parseResponse(input.response, sources).claims.map(({ text, ids }) => ({
  type: 'text',
  text: `${text} `,
  citations: ids.map(({ source }) => ({ type: 'page_location', document_index: source ?? 0, cited_text: '' })),
}));

const timings = await timeTogether([
  { name: 'JSON.parse of the request body', run: () => JSON.parse(body) },
  { name: 'verify, structural', run: () => verifyCitations(input, { evidence: 'none' }) },
  { name: 'verify, lexical evidence', run: () => verifyCitations(input, { evidence: 'lexical' }) },
  { name: '  of which: sources', run: () => parseSources(input.tool_output) },
  { name: '  of which: response', run: () => parseResponse(input.response, sources) },
  { name: "a vendor's blocks to a response", run: () => readCitedAnswer(blocks, undefined, sources) },
]);
const baseline = timings[0]?.median_us ?? Number.NaN;
const verification = verifyCitations(input, { evidence: 'none' });

console.log(
  `Typical rollout: ${(body.length / 1000).toFixed(1)} KB body, ${verification.sources.length} sources, ` +
    `${verification.claims.length} claims\n`,
);
for (const { name, median_us, spread } of timings) {
  const ratio = (median_us / baseline).toFixed(2).padStart(7);
  const noise = `±${(100 * spread).toFixed(0)}%`.padStart(5);
  console.log(`${name.padEnd(34)} ${ratio} x  (${median_us.toFixed(1)} µs, ${noise})`);
}

const microseconds = (name: string): number => timings.find((timing) => timing.name === name)?.median_us ?? Number.NaN;
const conversion = microseconds("a vendor's blocks to a response") / microseconds('  of which: response');
console.log(`\nconverting a vendor's blocks / parsing the tags of the same answer: ${conversion.toFixed(2)} x`);
