/**
 * The checks of `npm run smoke`: each exercises one part of a deployment over HTTP. They use random texts, so that the
 * judge is really called, and one run and one batch of their own.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, ScoreInput } from '../../clients/typescript/client.ts';
import type { ClientFailure, Reply } from '../../clients/typescript/reply.ts';
import { parsedJson } from '../../src/json.ts';
import { type Readiness, readinessSchema } from '../../src/wire/health.ts';
import type { ScoreResponse } from '../../src/wire/score.ts';

/** What the checks share. `run` and `files` are erased at the end. */
export type Subject = {
  readonly client: Client;
  readonly url: URL;
  readonly key: string | null;
  /** A random word that is part of every text and names the run. */
  readonly mark: string;
  readonly files: string[];
  /** Time limit of the batch, in milliseconds. */
  readonly batch_ms: number;
  /** The reply of the score that the next check repeats. */
  scored: ScoreResponse | null;
};

/** A check did not hold; the message says what was observed, and what to do if that is known. */
export class CheckFailed extends Error {}

type Check = {
  readonly name: string;
  /** Returns what was observed, in a few words. @throws CheckFailed. */
  readonly run: (subject: Subject) => Promise<string>;
};

const RECIPE = 'refiner-gpt54-instance-rubric';
const LINES = 3;
const POLL_MS = 500;

/** In order; a check may use what an earlier one made. */
export const CHECKS: readonly Check[] = [
  { name: 'health', run: checkHealth },
  { name: 'stores and judges', run: checkReadiness },
  { name: 'verify', run: checkVerify },
  { name: 'verify a stream', run: checkStream },
  { name: 'score and record', run: checkScore },
  { name: 'score again', run: checkRepeat },
  { name: 'run', run: checkRun },
  { name: 'batch of 3 lines', run: checkBatch },
  { name: 'judge times', run: judgeTimes },
  { name: 'erase', run: erase },
];

async function checkHealth({ client }: Subject): Promise<string> {
  bodyOf(await client.health());
  return 'the Worker answers';
}

async function checkReadiness(subject: Subject): Promise<string> {
  const reply = await get(subject, 'readyz');
  const read = readinessSchema.safeParse(parsedJson(reply.text));
  if (!read.success) throw new CheckFailed(`GET /readyz answered ${reply.status}, which is not a readiness reply`);
  const { stores, judges, status, reason, default_judge } = read.data;
  if (status !== 'ready') throw new CheckFailed(unreadyText(read.data));
  return `${stores.length} stores; judges: ${judges.map(({ name }) => name).join(', ')}; default ${default_judge ?? reason}`;
}

/** A reply of a route that the client has no method for. @throws CheckFailed without a reply. */
async function get({ url, key }: Subject, path: string): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const headers: HeadersInit = key === null ? {} : { authorization: `Bearer ${key}` };
    const reply = await fetch(new URL(path, baseOf(url)), { headers });
    return { status: reply.status, text: await reply.text() };
  } catch (error) {
    throw new CheckFailed(`GET /${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function unreadyText({ reason, stores, judges, default_judge }: Readiness): string {
  const unreachable = stores.filter(({ reachable }) => !reachable).map(({ name }) => name);
  if (unreachable.length > 0) return `not reachable: ${unreachable.join(', ')}`;
  if (default_judge === null) return 'no default judge: set the secret BACKENDS (docs/guides/backends.md)';
  const judge = judges.find(({ name }) => name === default_judge);
  return `${reason}: the judge ${default_judge} reports ${judge?.last_error ?? 'no error'}`;
}

async function checkVerify({ client, mark }: Subject): Promise<string> {
  const { question: _question, recipe: _recipe, positive_rubrics: _rubrics, ...rollout } = rolloutOf(mark, 'verify');
  const { claims } = bodyOf(await client.verify(rollout, { evidence: 'lexical' }));
  if (claims.length !== 2) throw new CheckFailed(`expected 2 claims, got ${claims.length}`);
  return `${claims.length} claims`;
}

async function checkStream({ client, mark }: Subject): Promise<string> {
  const { response, tool_output } = rolloutOf(mark, 'stream');
  const half = Math.floor(response.length / 2);
  const events = bodyOf(await client.verifyStream({ tool_output }, [response.slice(0, half), response.slice(half)]));
  let count = 0;
  let last = 'none';
  for await (const { event } of events) {
    count++;
    last = event;
  }
  if (last !== 'done') throw new CheckFailed(`the last of ${count} events was "${last}" instead of "done"`);
  return `${count} events`;
}

async function checkScore(subject: Subject): Promise<string> {
  const score = bodyOf(await subject.client.score(recorded(subject)));
  subject.scored = score;
  const { reward, judgments } = score;
  if (reward === null) throw new CheckFailed(`unscored: ${reasonOf(score)}`);
  return `reward ${reward.toFixed(3)}; ${judgments.length} judgments by ${[...new Set(judgments.map(({ model }) => model))].join(', ')}`;
}

async function checkRepeat(subject: Subject): Promise<string> {
  const { scored } = subject;
  if (scored === null) throw new CheckFailed('nothing was scored before');
  const again = bodyOf(await subject.client.score(recorded(subject)));
  if (again.reward !== scored.reward) throw new CheckFailed(`reward ${again.reward} instead of ${scored.reward}`);
  const fresh = again.judgments.filter(({ cached }) => !cached).length;
  if (fresh > 0) throw new CheckFailed(`${fresh} of ${again.judgments.length} judgments were made again`);
  return 'same reward, no judge call';
}

/**
 * Reports how long judges take to send their response headers: a desk waits for five at a time. The platform promises
 * that a connection counts only until then, so the wait for a connection stays far below the duration of calls.
 */
async function judgeTimes(subject: Subject): Promise<string> {
  const { status, text } = await get(subject, 'metrics');
  if (status === 403) return 'not read: the key lacks the scope metrics';
  if (status !== 200) throw new CheckFailed(`GET /metrics answered ${status}`);
  const meanOf = (name: string): number => totalOf(text, `${name}_sum`) / totalOf(text, `${name}_count`);
  const calls = totalOf(text, 'citeward_judge_header_seconds_count');
  if (calls === 0) return 'no judge was called over HTTP';
  const [first, whole, waited] = ['header', 'call', 'connection_wait'].map((part) =>
    meanOf(`citeward_judge_${part}_seconds`).toFixed(2),
  );
  return `means of ${calls} calls: headers ${first} s, whole call ${whole} s, wait for a connection ${waited} s`;
}

/** The sum of all samples of a name, whatever their labels. */
function totalOf(page: string, name: string): number {
  const samples = page.split('\n').filter((line) => line.startsWith(`${name}{`));
  return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

async function checkRun({ client, mark, scored }: Subject): Promise<string> {
  if (scored === null) throw new CheckFailed('nothing was recorded before');
  const run = bodyOf(await client.runs.retrieve(runOf(mark)));
  if (run.rollouts !== 1) throw new CheckFailed(`expected 1 rollout, got ${run.rollouts}`);
  return '1 rollout';
}

async function checkBatch({ client, mark, files, batch_ms }: Subject): Promise<string> {
  const lines = Array.from({ length: LINES }, (_, line) => {
    const body = rolloutOf(mark, `line ${line}`);
    return JSON.stringify({ custom_id: `${mark}-${line}`, method: 'POST', url: '/v1/score', body });
  });
  const content = new Blob([`${lines.join('\n')}\n`]);
  const input = bodyOf(await client.files.create({ content, filename: `${mark}.jsonl` }));
  files.push(input.id);
  const started = performance.now();
  let batch = bodyOf(
    await client.batches.create({ input_file_id: input.id, endpoint: '/v1/score', completion_window: '24h' }),
  );
  while (batch.status !== 'completed') {
    if (batch.status === 'failed' || batch.status === 'expired' || batch.status === 'cancelled') {
      throw new CheckFailed(`the batch ended as ${batch.status}`);
    }
    if (performance.now() - started > batch_ms) {
      await client.batches.cancel(batch.id);
      throw new CheckFailed(`the batch is still "${batch.status}" after ${Math.round(batch_ms / 1000)} s`);
    }
    await pause(POLL_MS);
    batch = bodyOf(await client.batches.retrieve(batch.id));
  }
  for (const id of [batch.output_file_id, batch.error_file_id]) if (id !== null && id !== undefined) files.push(id);
  const { completed, failed } = batch.request_counts;
  if (completed !== LINES) throw new CheckFailed(`${completed} of ${LINES} lines completed, ${failed} failed`);
  return `${completed} lines`;
}

/** Erases the run and the files. Judgments are never deleted: each check leaves about eight records of 1 KB in KV. */
export async function erase({ client, mark, files }: Subject): Promise<string> {
  const problems: string[] = [];
  for (const id of files.splice(0)) {
    const deleted = await client.files.delete(id);
    if (!deleted.ok && !isAbsent(deleted.failure)) problems.push(`file ${id}: ${failureText(deleted.failure)}`);
  }
  const run = runOf(mark);
  for (let complete = false; !complete; ) {
    const deleted = await client.runs.delete(run);
    if (!deleted.ok && !isAbsent(deleted.failure)) problems.push(`run ${run}: ${failureText(deleted.failure)}`);
    complete = !deleted.ok || deleted.body.complete;
  }
  const left = await client.runs.retrieve(run);
  if (left.ok) problems.push(`run ${run} still exists`);
  if (problems.length > 0) throw new CheckFailed(problems.join('; '));
  return 'run and files are gone';
}

function recorded({ mark }: Subject): ScoreInput & { readonly detail: 'full' } {
  const run = { id: runOf(mark), step: 0, group: mark, sample: 0 };
  return { ...rolloutOf(mark, 'score'), run, store_text: true, detail: 'full' };
}

function runOf(mark: string): string {
  return `smoke-${mark}`;
}

/** A rollout with one supported and one unsupported claim. `part` keeps the checks' judgments apart. */
function rolloutOf(mark: string, part: string) {
  const word = `${mark} ${part}`;
  return {
    question: `How long is the river ${word}?`,
    tool_output: `<snippet id=S1>The river ${word} is 288 kilometres long.</snippet>`,
    response:
      `<answer><snippet id=S1>The river ${word} is 288 kilometres long.</snippet> ` +
      `<snippet id=S1>It was 310 kilometres long in the past.</snippet></answer>`,
    positive_rubrics: ['States that the river is 288 kilometres long'],
    recipe: RECIPE,
  };
}

function reasonOf({ judgments }: ScoreResponse): string {
  return judgments.map(({ failure }) => failure?.reason).find((reason) => reason !== undefined) ?? 'no reason';
}

/** The body of a reply. @throws CheckFailed if the call failed. */
function bodyOf<T>(reply: Reply<T>): T {
  if (reply.ok) return reply.body;
  throw new CheckFailed(failureText(reply.failure));
}

function isAbsent(failure: ClientFailure): boolean {
  return failure.kind === 'problem' && failure.status === 404;
}

function failureText(failure: ClientFailure): string {
  switch (failure.kind) {
    case 'problem':
      return `${failure.status} ${failure.problem.reason}: ${failure.problem.detail}`;
    case 'unexpected_reply':
      return `unexpected reply: ${failure.detail}`;
    case 'unreachable':
      return `unreachable: ${failure.why}`;
  }
}

function baseOf(url: URL): URL {
  return new URL(url.href.endsWith('/') ? url.href : `${url.href}/`);
}
