/**
 * `npm run bench`: time to score a typical rollout from stored judgments, from the request body to the reply,
 * relative to `JSON.parse` of the same body. Target: at most 20x.
 */
import { replyForSchema } from '../fake-ai/schema-reply.ts';
import { createSourceReader, RECENT_SOURCES } from '../src/citations/recent-sources.ts';
import { resolveRecipe } from '../src/families/resolve.ts';
import { rolloutOf } from '../src/family/rollout-schema.ts';
import type { ChatBackend } from '../src/judgments/chat-backend.ts';
import { LEXICAL_JUDGE } from '../src/judgments/lexical-judge.ts';
import { createModelJudge } from '../src/judgments/model-judge.ts';
import type { ObtainOptions } from '../src/judgments/obtain.ts';
import { createMemoryJudgmentStore, type JudgmentStore } from '../src/judgments/store.ts';
import { scoreGroup, scoreRollout } from '../src/scoring/score-rollouts.ts';
import { parseJsonValue } from '../src/wire/absent-fields.ts';
import { scoreRequestSchema } from '../src/wire/score.ts';
import { timeTogether } from './measure.ts';
import { typicalRollout } from './typical-rollout.ts';

const GROUP_SIZE = 8;

const body = JSON.stringify({ recipe: 'refiner-gpt54-instance-rubric', ...typicalRollout() });
const options: ObtainOptions = {
  judge: { ok: true, judge: LEXICAL_JUDGE },
  store: createMemoryJudgmentStore(),
  mode: 'use',
  replicate: 0,
  deadline_ms: 10_000,
  now: () => '2026-01-01T00:00:00.000Z',
  elapsed: () => performance.now(),
};

async function read() {
  const read = parseJsonValue(scoreRequestSchema, JSON.parse(body));
  if (!read.success) throw read.error;
  const request = read.data;
  const recipe = await resolveRecipe(request.recipe);
  if (!recipe.ok) throw new Error('the recipe of the benchmark is unknown');
  return { rollout: rolloutOf(request), recipe: recipe.value };
}

/**
 * Judgments of a model whose server is a stub: prompts are built and written, replies read, and nothing is stored. Its
 * quotes are in no source, so all cited sources are searched.
 */
const stub: ChatBackend = {
  name: 'stub',
  model: 'stub',
  context_tokens: 32_768,
  async complete({ messages, schema }) {
    JSON.stringify(messages);
    const text = JSON.stringify(replyForSchema(schema?.schema));
    return { ok: true, completion: { text, model: 'stub', usage: null } };
  },
};
const unstored: JudgmentStore = {
  get: async () => new Map(),
  put: async () => ({ ok: true }),
  remember: () => undefined,
};
const fresh: ObtainOptions = {
  ...options,
  judge: { ok: true, judge: createModelJudge(stub, options.elapsed) },
  store: unstored,
};

/** Reads the sources of a prompt once, as the Worker does for the samples of a group that arrive one by one. */
const readSources = createSourceReader(RECENT_SOURCES);

async function scoreOne(how: ObtainOptions = options, shared = {}): Promise<string> {
  const result = await scoreRollout({ ...(await read()), ...shared }, how);
  if (result.status !== 'done') throw new Error(`the rollout of the benchmark is ${result.status}`);
  return JSON.stringify(result.reply);
}

/** The samples of a group share question and sources; here they share the response too. */
async function scoreEight(how: ObtainOptions = options): Promise<string> {
  const { rollout, recipe } = await read();
  const rollouts = Array.from({ length: GROUP_SIZE }, () => ({ ...rollout }));
  const result = await scoreGroup({ rollouts, recipe }, how);
  if (result.status !== 'done') throw new Error(`the group of the benchmark is ${result.status}`);
  return JSON.stringify(result.members.map(({ reply }) => reply));
}

await scoreOne();
const timings = await timeTogether([
  { name: 'JSON.parse of the request body', run: () => JSON.parse(body) },
  { name: 'parse and validate the request', run: read },
  { name: 'score from stored judgments', run: () => scoreOne() },
  { name: '  whose sources were read before', run: () => scoreOne(options, { readSources }) },
  { name: `a group of ${GROUP_SIZE}, per rollout`, run: () => scoreEight() },
  { name: `a group of ${GROUP_SIZE} that a model judges`, run: () => scoreEight(fresh) },
]);
const baseline = timings[0]?.median_us ?? Number.NaN;
for (const { name, median_us, spread } of timings) {
  const each = name.startsWith('a group') ? median_us / GROUP_SIZE : median_us;
  const noise = `±${(100 * spread).toFixed(0)}%`.padStart(5);
  console.log(`${name.padEnd(36)} ${(each / baseline).toFixed(1).padStart(7)} x  (${each.toFixed(1)} µs, ${noise})`);
}
