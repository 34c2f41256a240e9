/**
 * `npm run demo:rubrics`: scores three steps of one prompt of examples/ under criteria that evolve. A scripted server
 * takes the place of the model that writes criteria. Prints what was proposed, activated and retired, and why. Then it
 * serves the dashboard until Ctrl-C (`--once` exits instead). Needs no network and no GPU, and leaves no file behind.
 */
import { parseArgs } from 'node:util';
import { wrapped } from '../cli/shared/help.ts';
import { CITEWARD } from '../cli/shared/program.ts';
import { styleFor } from '../cli/shared/style.ts';
import { type Client, createClient } from '../clients/typescript/client.ts';
import type { PromptRubricsReply } from '../src/wire/rubrics.ts';
import { ensureDashboard } from './build-dashboard.ts';
import { ANSWERS, type ExampleRow, readExamples } from './demo/rollouts.ts';
import { type GeneratorServer, startGeneratorServer } from './demo-rubrics/generator-server.ts';
import { STEPS } from './demo-rubrics/steps.ts';
import { namesOf, type Paper, printCriteria, printEvents } from './demo-rubrics/story.ts';
import { showWithWorker } from './demo-worker.ts';

const RUN = 'demo-rubrics';
const GROUP = 'baikal';
const RECIPE = 'refiner-gpt54-instance-rubric';
const START_MS = 60_000;
const WIDTH = 100;

const style = styleFor(process.stdout, false);
const say = (text = ''): void => console.log(text);
const paper: Paper = { width: Math.min(WIDTH, process.stdout.columns ?? WIDTH), style, write: say };

/** Whether to exit at the end; `null` = the command line is wrong. */
function readOnce(args: string[]): boolean | null {
  try {
    return parseArgs({ args, options: { once: { type: 'boolean', default: false } } }).values.once;
  } catch (error) {
    // parseArgs throws a TypeError for an unknown flag.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Scores one step. @returns the rubric after it. @throws Error if an answer has no reward. */
async function playStep(
  client: Client,
  generator: GeneratorServer,
  answers: readonly ExampleRow[],
  step: number,
): Promise<PromptRubricsReply> {
  const { answers: ids, proposes } = STEPS[step] ?? { answers: [], proposes: null };
  generator.answer(JSON.stringify(proposes));
  const rows = ids.flatMap((id) => answers.filter(({ labels }) => labels.id === id));
  const [first] = rows;
  if (first === undefined || rows.length !== ids.length) throw new Error(`${ANSWERS} lacks an answer of the demo`);
  const { question, tool_output, positive_rubrics, negative_rubrics } = first.request;
  if (question === undefined || tool_output === undefined || positive_rubrics === undefined) {
    throw new Error(`${ANSWERS}: the demo needs question, tool_output and positive_rubrics`);
  }
  const scored = await client.group({
    ...{ question, tool_output, positive_rubrics, recipe: RECIPE, judge: 'lexical' },
    ...(negative_rubrics === undefined ? {} : { negative_rubrics }),
    responses: rows.map(({ request }) => request.response ?? ''),
    run: { id: RUN, step, group: GROUP },
    evolution: { rules: 'citeward', generator: 'scripted' },
    detail: 'full',
    store_text: true,
  });
  if (!scored.ok) throw new Error(`step ${step}: ${JSON.stringify(scored.failure)}`);
  const { evolution, rewards } = scored.body;
  if (evolution === undefined || rewards.includes(null)) throw new Error(`step ${step} was not scored`);
  const shown = await client.runs.rubrics.retrieve(RUN, evolution.prompt);
  if (!shown.ok) throw new Error(`the rubric: ${JSON.stringify(shown.failure)}`);
  say(`\n${style('bold', `Step ${step}`)}`);
  for (const [n, id] of ids.entries()) say(`   ${rewards[n]?.toFixed(2).padStart(5)}  ${id}`);
  say(
    `   scored under the set ${evolution.set.slice(0, 8)}, ${scored.body.members[0]?.rubric_set?.entries.length} criteria`,
  );
  printEvents(evolution.events, namesOf(shown.body), paper);
  say(`   the next group has the set ${evolution.next_set.slice(0, 8)}:`);
  await printCriteria(shown.body, paper);
  return shown.body;
}

/** The mean rewards of the steps: whole, and by the criteria that stay. */
async function sayRewards(client: Client): Promise<void> {
  const run = await client.runs.retrieve(RUN);
  if (!run.ok) throw new Error(`the run: ${JSON.stringify(run.failure)}`);
  say(`\n${style('bold', 'Mean reward of each step')}`);
  for (const { step, reward, persistent_reward } of run.body.steps) {
    const [whole, persistent] = [reward.mean, persistent_reward?.mean ?? null].map((mean) => mean?.toFixed(2) ?? '-');
    say(`   step ${step}: ${whole} under the set of the step, ${persistent} by the persistent criteria alone`);
  }
  say(style('dim', '   Whole rewards of different sets are not comparable over the steps.'));
}

const isOnce = readOnce(process.argv.slice(2));
if (isOnce === null) {
  console.error('usage: npm run demo:rubrics [-- --once]');
  process.exit(2);
}
say(style('bold', 'Criteria evolve while answers to one question get better'));
say(style('yellow', 'Judge: the built-in stand-in, which compares words. Generator: scripted, no language model.'));
if (!isOnce) await ensureDashboard();
const generator = await startGeneratorServer();
await showWithWorker(
  'The demo of evolving rubrics',
  async () => {
    const scripted = { kind: 'vllm', base_url: generator.url, model: 'scripted', slots: 1, context_tokens: 32_768 };
    const backends = { backends: [{ name: 'scripted', ...scripted }], default_judge: 'scripted' };
    const access = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' };
    return { variables: { ...access, BACKENDS: JSON.stringify(backends) }, deadline_ms: START_MS };
  },
  async (worker) => {
    const client = createClient({ url: new URL(worker.url), key: null });
    const answers = await readExamples(ANSWERS, RECIPE);
    for (const line of wrapped(answers[0]?.request.question ?? '', paper.width)) say(line);
    let last: PromptRubricsReply | null = null;
    for (const step of STEPS.keys()) last = await playStep(client, generator, answers, step);
    await sayRewards(client);
    if (last === null) return;
    say(
      isOnce
        ? '\nWithout --once the Worker goes on, so that you can look at the rubric and its log, and edit it:'
        : '\nLook at the rubric and its log, and edit it (Ctrl-C stops the Worker):',
    );
    const url = isOnce ? 'URL' : worker.url;
    const show = `rubrics show ${RUN} ${last.prompt.slice(0, 12)}`;
    for (const shown of [show, `${show} --log`]) say(`   ${CITEWARD} ${shown} --url ${url}`);
    if (isOnce) return;
    say(`   ${style('bold', `${worker.url}/#/runs/${RUN}/rubrics/${last.prompt}`)}`);
    // Waits until a signal ends the process.
    await new Promise<never>(() => setInterval(() => undefined, 60_000));
  },
);
generator.stop();
