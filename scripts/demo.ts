/**
 * `npm run demo`: the Worker on this machine scores the example rollouts over HTTP, twice, and replays them under
 * another recipe, and answers one question itself. Ends by itself and leaves nothing running. No account, no network, no GPU.
 */

import { durationText } from '../cli/shared/number-text.ts';
import { styleFor } from '../cli/shared/style.ts';
import { createClient } from '../clients/typescript/client.ts';
import { refineLive } from './demo/refining.ts';
import { EXAMPLES, type Pass, readExamples, scoreAll } from './demo/rollouts.ts';
import { type Paper, printReplay, printStory } from './demo/tables.ts';
import { showWithWorker } from './demo-worker.ts';
import type { LocalWorker } from './local-worker.ts';

const RECIPE = 'refiner-gpt54-instance-rubric';
const REPLAYED_WEIGHT = 0.5;
const REFINED = 'negation-flip';
const WIDTH = 100;
const START_MS = 60_000;

const style = styleFor(process.stdout, false);
const say = (text = ''): void => console.log(text);
const paper: Paper = { width: Math.min(WIDTH, process.stdout.columns ?? WIDTH), style, write: say };
const heading = (text: string): void => say(`\n${style('bold', text)}`);

async function demo(worker: LocalWorker): Promise<void> {
  const client = createClient({ url: new URL(worker.url), key: null });
  const examples = await readExamples(RECIPE);

  heading(`2. Scoring the ${examples.length} rollouts of ${EXAMPLES}, recipe ${RECIPE}`);
  say('   reward = 10 x (0.8 rubric + 0.2 citation); citation = harmonic mean of recall and precision');
  say();
  const first = await scoreAll(client, examples, {});
  await printStory(first, paper);
  say();
  say(`   ${first.tally.summary(first.seconds)}`);

  heading('3. The same rows once more');
  const second = await scoreAll(client, examples, {});
  requireSameRewards(first, second);
  say(`   ${second.tally.judgeCalls} judge calls: all ${second.tally.cached} judgments came from the store.`);
  say(
    `   ${durationText(second.seconds)}, before ${durationText(first.seconds)}; the rewards are the same to the last bit.`,
  );

  heading(`4. Replay: citation_weight ${REPLAYED_WEIGHT} in place of 0.2, stored judgments only`);
  const recipe = { base: RECIPE, citation_weight: REPLAYED_WEIGHT };
  const replayed = await scoreAll(client, examples, { recipe, judgments: 'only' });
  say();
  await printReplay(first, replayed, paper);
  say();
  say(
    `   ${replayed.tally.judgeCalls} judge calls, ${durationText(replayed.seconds)}. Rows whose citations are worth more or less than`,
  );
  say('   their text moved most. A change of weights costs no judging.');

  heading('5. Refining: a question answered from its tool output, claims verified as they are written');
  const refined = examples.find(({ labels }) => labels.id === REFINED);
  if (refined === undefined) throw new Error(`the examples have no row ${REFINED}`);
  await refineLive(client, refined, RECIPE, paper);
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
  say('The judge of this demo is built in and compares words. It stands in where there is no GPU and is no');
  say('model: these rewards show how Citeward works, not how good the answers are. Nor is the refiner a');
  say('model: it copies sentences that share words with the question (docs/refine.md).');
  say();
  say('Next:  README.md                   what is measured, recipes, scoring over HTTP');
  say('       npm run citeward -- --help  the command line: your own rows, from a file or a pipe');
  say('       npm run demo:run            a synthetic run of 3,072 rollouts, and its pages in the browser');
  say('       npm run dev                 the same Worker, to stay: http://127.0.0.1:8799');
}

say(style('bold', 'Citeward: rewards for cited answers'));
heading('1. Starting the Worker here, with no account and no network (wrangler dev --local) …');
const started = performance.now();
await showWithWorker(
  'The demo',
  async () => ({ variables: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' }, deadline_ms: START_MS }),
  async (worker) => {
    say(`   up at ${worker.url} after ${durationText((performance.now() - started) / 1000)}`);
    await demo(worker);
    sayWhatNext();
  },
);
