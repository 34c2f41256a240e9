/**
 * `npm run demo`: starts a local Worker, scores ten answers to one question twice over HTTP, recomputes them under another
 * formula, scores the CaRR examples, and generates one cited answer. Needs no account, network or GPU, and leaves no
 * process running.
 */

import { wrapped } from '../cli/shared/help.ts';
import { durationText } from '../cli/shared/number-text.ts';
import { CITEWARD } from '../cli/shared/program.ts';
import { styleFor } from '../cli/shared/style.ts';
import { createClient } from '../clients/typescript/client.ts';
import { CARR_EXAMPLES, printCriteria } from './demo/criteria.ts';
import { refineLive } from './demo/refining.ts';
import { ANSWERS, type Pass, readExamples, scoreAll } from './demo/rollouts.ts';
import { type Paper, printReplay, printStory } from './demo/tables.ts';
import { showWithWorker } from './demo-worker.ts';
import type { LocalWorker } from './local-worker.ts';

const PUBLISHED = 'refiner-gpt54-instance-rubric';
/** The published formula, but a criterion that must not be met earns nothing while no positive one is met. */
const RECIPE = { base: PUBLISHED, negatives_require_positive: true };
const ROLLOUTS = 'examples/rollouts.jsonl';
const REFINED = 'negation-flip';
const OFF_TOPIC = 'baikal-off-topic';
const WIDTH = 100;
const START_MS = 60_000;

const style = styleFor(process.stdout, false);
const say = (text = ''): void => console.log(text);
const paper: Paper = { width: Math.min(WIDTH, process.stdout.columns ?? WIDTH), style, write: say };
const heading = (text: string): void => say(`\n${style('bold', text)}`);

async function demo(worker: LocalWorker): Promise<void> {
  const client = createClient({ url: new URL(worker.url), key: null });
  const examples = await readExamples(ANSWERS, RECIPE);

  heading(`2. Score ${examples.length} answers to one question (${ANSWERS})`);
  for (const line of wrapped(examples[0]?.request.question ?? '', paper.width - 3)) say(`   ${line}`);
  say('   reward = 10 x (0.8 rubric + 0.2 citation),');
  say('   where citation is the harmonic mean of citation recall and precision');
  say();
  const first = await scoreAll(client, examples, {});
  await printStory(first, paper);
  say();
  say(`   ${first.tally.text(first.seconds)}`);
  say(style('dim', '   judge: word-matching stand-in, not a model. It cannot tell own words from copied ones.'));

  heading('3. Score the same answers again');
  const second = await scoreAll(client, examples, {});
  requireSameRewards(first, second);
  say(`   ${second.tally.judgeCalls} judge calls: all ${second.tally.cached} judgments came from the store.`);
  say(
    `   ${durationText(second.seconds)} instead of ${durationText(first.seconds)}; all rewards are identical to the last bit.`,
  );

  heading('4. Recompute under the formula as it was published, from stored judgments');
  say('   It also pays for faults that an answer does not have, even if the answer says nothing.');
  const replayed = await scoreAll(client, examples, { recipe: PUBLISHED, judgments: 'only' });
  say();
  await printReplay(first, replayed, paper);
  say();
  say(
    `   ${replayed.tally.judgeCalls} judge calls, ${durationText(replayed.seconds)}. A policy would find this: one irrelevant sentence`,
  );
  say(
    `   earns ${rewardOf(replayed, OFF_TOPIC).toFixed(2)} of 10, ${rewardOf(first, OFF_TOPIC).toFixed(2)} before. Another weight or formula needs no new judgments.`,
  );

  heading(`5. Score the answers of ${CARR_EXAMPLES} by criteria about what they name and cite`);
  say('   a right answer also earns the share of criteria that it names, supports by a cited page, and');
  say('   connects to the answer');
  say();
  await printCriteria(client, paper);

  heading('6. Generate an answer from search results and verify each claim while it is written');
  const rollouts = await readExamples(ROLLOUTS, PUBLISHED);
  const refined = rollouts.find(({ labels }) => labels.id === REFINED);
  if (refined === undefined) throw new Error(`${ROLLOUTS} has no row ${REFINED}`);
  await refineLive(client, refined, PUBLISHED, paper);
}

/** The reward of a row by its id. */
function rewardOf(pass: Pass, id: string): number {
  const found = pass.rows.find(({ row }) => row.labels.id === id);
  if (found === undefined) throw new Error(`${ANSWERS} has no row ${id}`);
  return found.reward;
}

function requireSameRewards(first: Pass, second: Pass): void {
  first.rows.forEach(({ row, reward }, position) => {
    if (second.rows[position]?.reward !== reward) {
      throw new Error(`line ${row.line}: the second pass gave another reward than the first`);
    }
  });
}

function sayWhatNext(): void {
  say();
  say('Note: this demo uses no model. The built-in judge compares words, so these rewards show how Citeward');
  say('works, not how good the answers are. The built-in generator copies source sentences that share');
  say('words with the question (docs/guides/refine.md).');
  say();
  say('Next:  README.md              scoring over HTTP, recipes, trainers');
  say(`       ${`${CITEWARD} --help`.padEnd(21)}  the command line: score your own rollouts from a file or a pipe`);
  say(`       ${`${CITEWARD} view FILE`.padEnd(21)}  your own answers in the browser, with marked claims`);
  say('       npm run demo:run       a small policy learns to cite, and to cheat; its runs in the dashboard');
  say('       npm run dev            a Worker that keeps running on http://127.0.0.1:8799');
}

say(style('bold', 'Citeward: rewards for cited answers'));
heading('1. Start a local Worker: no account, no network');
const started = performance.now();
await showWithWorker(
  'The demo',
  async () => ({ variables: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' }, deadline_ms: START_MS }),
  async (worker) => {
    say(`   running at ${worker.url} after ${durationText((performance.now() - started) / 1000)}`);
    await demo(worker);
    sayWhatNext();
  },
);
