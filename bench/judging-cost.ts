/**
 * `npm run bench`: cost of judging a group. Compares two joint calls per sample with one call per criterion,
 * two per cited claim and one per uncited statement, in calls, prompt tokens, and prompt tokens that an ideal prefix
 * cache does not save. `estimateTokens` gives an upper estimate; with `--url`, the usage reported by a server is
 * printed too.
 *
 *     node bench/judging-cost.ts [--url http://127.0.0.1:8000 --model NAME [--key KEY]]
 *
 * Targets: at least 20 times fewer calls and 8 times fewer uncached prompt tokens.
 */
import { parseArgs } from 'node:util';
import { estimateTokens } from '../src/judgments/protocol/token-estimate.ts';
import { CLAIMS, CRITERIA, groupRequests, SAMPLES, type SampleRequests, STATEMENTS } from './judging-cost/group.ts';
import { jointPrompts, type Prompt, separatePrompts } from './judging-cost/prompts.ts';
import { type ServerUsage, usageOf } from './judging-cost/server.ts';

/** Multiples of the typical rollout's tool output. */
const SOURCE_LENGTHS = [1, 2, 4];

type Cost = { readonly name: string; readonly calls: number; readonly prompt: number; readonly uncached: number };

/**
 * Tokens that an ideal prefix cache, which never evicts, does not save: of each prompt, the part after its longest
 * prefix shared with an earlier prompt. @param tokensOf estimates the tokens of any part of a text.
 */
function uncachedTokens(prompts: readonly string[], tokensOf: (text: string) => number): number {
  const seen: string[] = [];
  let tokens = 0;
  for (const prompt of prompts) {
    let shared = 0;
    for (const earlier of seen) shared = Math.max(shared, commonPrefix(prompt, earlier));
    tokens += tokensOf(prompt.slice(shared));
    seen.push(prompt);
  }
  return tokens;
}

function commonPrefix(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

function costOf(name: string, prompts: readonly Prompt[]): Cost {
  const prompt = prompts.reduce((sum, text) => sum + estimateTokens(text), 0);
  return { name, calls: prompts.length, prompt, uncached: uncachedTokens(prompts, estimateTokens) };
}

function sourceKilobytes([first]: readonly SampleRequests[]): string {
  const chars = (first?.rubric.sources ?? []).reduce((sum, { text }) => sum + text.length, 0);
  return (chars / 1000).toFixed(0);
}

function printCosts(rows: readonly Cost[]): void {
  const [first, ...others] = rows;
  if (first === undefined) return;
  const line = (...cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(34) : cell.padStart(16))).join('');
  console.log(line('', 'calls', 'prompt tokens', 'uncached'));
  const count = (value: number): string => value.toLocaleString('en');
  for (const { name, calls, prompt, uncached } of rows) {
    console.log(line(name, count(calls), count(prompt), count(uncached)));
  }
  const ratio = (other: number, own: number): string => `${(other / own).toFixed(1)} x`;
  for (const { calls, prompt, uncached } of others) {
    const ratios = [ratio(calls, first.calls), ratio(prompt, first.prompt), ratio(uncached, first.uncached)];
    console.log(line('  joint is cheaper by', ...ratios));
  }
}

const { values } = parseArgs({
  options: { url: { type: 'string' }, model: { type: 'string' }, key: { type: 'string' } },
});

console.log(
  `A group of ${SAMPLES} samples, each with ${CLAIMS} cited claims, ${STATEMENTS} uncited statements, ${CRITERIA} criteria.\n` +
    'Estimated, with an ideal prefix cache. The saving grows with the sources: joint prompts share them across the group,\n' +
    'separate prompts repeat them for every claim.',
);
for (const length of SOURCE_LENGTHS) {
  const group = await groupRequests(length);
  console.log(`\nSources of ${sourceKilobytes(group)} KB in total`);
  printCosts([
    costOf('joint: 2 calls per sample', jointPrompts(group)),
    costOf('separate: 49 calls per sample', separatePrompts(group)),
  ]);
}

if (values.url !== undefined) {
  if (values.model === undefined) throw new Error('--url needs --model');
  const server = { url: values.url, model: values.model, key: values.key ?? null };
  console.log(`\nUsage reported by ${values.url} (one output token per call)`);
  const reported = (name: string, { calls, prompt_tokens, cached_tokens }: ServerUsage): Cost => {
    if (cached_tokens === null)
      console.log('The server does not report cached tokens (--enable-prompt-tokens-details).');
    return { name, calls, prompt: prompt_tokens, uncached: prompt_tokens - (cached_tokens ?? 0) };
  };
  for (const length of SOURCE_LENGTHS) {
    const group = await groupRequests(length);
    console.log(`\nSources of ${sourceKilobytes(group)} KB in total`);
    const ours = reported('joint: 2 calls per sample', await usageOf(server, jointPrompts(group)));
    const theirs = reported('separate: 49 calls per sample', await usageOf(server, separatePrompts(group)));
    printCosts([ours, theirs]);
  }
}
