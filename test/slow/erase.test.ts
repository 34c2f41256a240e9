/**
 * A project is erased while a batch of it is scored, and the Worker loses power several times in between. Erased once
 * more, nothing of the project is left: neither in the lists nor in the files of R2, and the batch writes nothing later.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { begin, openAi, requestLines } from '../e2e/batch-client.ts';
import { citeward, type Ended, runCiteward } from '../e2e/processes.ts';

const EXAMPLES = 'examples/rollouts.jsonl';
const RUNS = 150;
const LINES = 4_000;
/**
 * When the Worker loses power after the start of an erasure: while the batch is cancelled, and while runs are deleted. A
 * busy machine needs the later ones.
 */
const KILLS_MS = [600, 900, 1_300, 2_000, 3_000, 4_500] as const;
const LEAST_KILLS = 3;
const ROLLOUT = {
  recipe: 'refiner-gpt54-instance-rubric',
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  response: '<answer>It is <cite id="S1">288 km long</cite>.</answer>',
  positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
};

const proofSchema = z.object({
  stores: z.array(z.object({ store: z.string(), found: z.int(), left: z.int().nullable() })),
});

let directory: string;
let variablesFile: string;
let worker: LocalWorker;

const start = async (): Promise<void> => {
  worker = await startLocalWorker({
    variables: {},
    variablesFile,
    deadline_ms: 60_000,
    state: join(directory, 'state'),
  });
};
const withKey = (key: string, ...args: string[]): Promise<Ended> =>
  runCiteward({ args: [...args, '--url', worker.url], env: { CITEWARD_KEY: key.trim() } });

// For each attempt: a second one must not find the Worker of the first.
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-erase-'));
  variablesFile = join(directory, 'vars');
  await writeFile(variablesFile, "ALLOW_LEXICAL_JUDGE='true'\n");
});

afterEach(async () => {
  await worker?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The keys of R2 that belong to a project, read from the files of the stopped Worker. */
async function keysInR2(project: string): Promise<string[]> {
  const entries = await readdir(join(directory, 'state'), { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => {
    if (!entry.isFile() || !entry.name.endsWith('.sqlite')) return [];
    const database = new DatabaseSync(join(entry.parentPath, entry.name), { readOnly: true });
    const columns = database.prepare("SELECT name FROM pragma_table_info('objects')").all();
    const hasKeys = columns.some(({ name }) => name === 'blobs');
    const keys = hasKeys
      ? database
          .prepare('SELECT key FROM objects')
          .all()
          .map(({ key }) => String(key))
      : [];
    database.close();
    return keys.filter((key) => key.split('/').includes(project));
  });
}

test('an erasure that is interrupted, while a batch is scored, is finished by the next one', async () => {
  const scopes = ['--scopes', 'verify,score,batch,admin', '--file', variablesFile];
  const operator = (await citeward('keys', 'add', 'boss', ...scopes)).stdout;
  await start();
  const add = async (project: string): Promise<string> =>
    (await withKey(operator, 'keys', 'add', 'trainer', '--project', project, '--scopes', 'score,batch,admin')).stdout;
  const [erased, kept] = [await add('erased'), await add('kept')];
  for (const key of [erased, kept]) {
    const { response, ...group } = ROLLOUT;
    const large = Array.from({ length: 8 }, () => `${response}\n${randomBytes(135_000).toString('base64')}`);
    // Too large for a row of the ledger, so its text is an object of R2.
    await record(key, 'large', { ...group, responses: large });
    const small = { ...group, responses: [response] };
    for (let run = 0; run < (key === erased ? RUNS : 1); run++) await record(key, `run-${run}`, small);
  }
  expect((await withKey(kept, 'score', EXAMPLES, '--run', 'more', '--step', '0')).code).toBe(0);
  const ids = Array.from({ length: LINES }, (_, n) => `line-${n}`);
  const batch = await begin(openAi(worker.url, erased.trim()), requestLines(ids, ROLLOUT));

  type Left = { readonly code: number | null; readonly found: readonly number[] };
  const left: Left[] = [];
  /** Whether the kill hit an erasure that had begun and not ended. */
  const isHit = ({ code, found: [, , , , runs = 0] }: Left): boolean => code !== 0 && runs > 0 && runs <= RUNS;
  for (const kill_ms of KILLS_MS) {
    if (left.length >= LEAST_KILLS && left.some(isHit)) break;
    const erasing = withKey(operator, 'projects', 'erase', 'erased', '--yes');
    await pause(kill_ms);
    await worker.kill();
    const { code } = await erasing;
    await start();
    const counted = await withKey(operator, 'projects', 'erase', 'erased', '--dry-run', '--json');
    const found = proofSchema.parse(JSON.parse(counted.stdout)).stores.map((store) => store.found);
    left.push({ code, found });
  }
  console.log(JSON.stringify(left));
  expect(left.some(isHit)).toBe(true);

  const finished = await withKey(operator, 'projects', 'erase', 'erased', '--yes');
  expect(finished.code, finished.stdout + finished.stderr).toBe(0);
  // A late task of the batch would write in this time.
  await pause(5_000);
  const again = await withKey(operator, 'projects', 'erase', 'erased', '--yes', '--json');
  const proof = proofSchema.parse(JSON.parse(again.stdout));
  expect(proof.stores.map(({ found, left }) => [found, left])).toEqual(proof.stores.map(() => [0, 0]));
  expect((await withKey(erased, 'runs', 'list')).stderr).toContain('401 key_unknown');
  const listed = await withKey(kept, 'runs', 'list');
  expect(listed.stdout).toContain('run-0');

  await worker.stop();
  // The batch deletes the results of its lines an hour after its end.
  const keys = await keysInR2('erased');
  expect(keys.filter((key) => !key.startsWith(`batches/erased/${batch.id}/chunks/`))).toEqual([]);
  expect(await keysInR2('kept')).toHaveLength(1);
}, 300_000);

async function record(key: string, run: string, group: object): Promise<void> {
  const reply = await fetch(`${worker.url}/v1/groups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.trim()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...group, store_text: true, run: { id: run, step: 0, group: 'g' } }),
  });
  expect(reply.status, await reply.text()).toBe(200);
}
