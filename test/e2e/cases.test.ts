/** `citeward serve`, and the command line with and without it, answer every case of test/cases. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { BatchEndpoint } from '../../src/wire/batches/batch.ts';
import { ALL_CASES, CASES, pathOf, steady } from '../cases/cases.ts';
import { citeward, jsonLines } from './processes.ts';
import { killServers, startServe } from './serve-process.ts';

let directory: string;
let url: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-cases-'));
  ({ url } = await startServe('--state', join(directory, 'data'), '--var', 'ALLOW_LEXICAL_JUDGE=true'));
});
afterAll(async () => {
  killServers();
  await rm(directory, { recursive: true, force: true });
});

describe('citeward serve answers', () => {
  it.each(ALL_CASES)('$route: $name', async (one) => {
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(new URL(pathOf(one), url), { method: 'POST', headers, body: JSON.stringify(one.body) });
    expect({ status: reply.status, reply: steady(await reply.json()) }).toEqual({
      status: one.status,
      reply: one.reply,
    });
  });
});

const reasonSchema = z.looseObject({ reason: z.string() });

/** The first field that a refusal names, else its detail. */
function faultOf(reply: unknown): string {
  const { errors: [first] = [], detail } = refusalSchema.parse(reply);
  return first?.path ?? detail.slice(0, DETAIL_CHARS);
}

const refusalSchema = z.looseObject({
  detail: z.string(),
  errors: z.array(z.looseObject({ path: z.string() })).optional(),
});

/** Quotes are escaped where the detail is printed. */
const DETAIL_CHARS = 30;

function reasonOf(reply: unknown): string {
  return reasonSchema.parse(reply).reason;
}

/** The commands that send rows to a route. A table shows the full reply, so the short one is for batches. */
const COMMANDS: readonly (readonly [command: string, route: BatchEndpoint])[] = [
  ['score', '/v1/score'],
  ['compare', '/v1/compare'],
  ['refine', '/v1/refine'],
];

describe.each(COMMANDS)('citeward %s', (command, route) => {
  const cases = (CASES.get(route) ?? []).filter(({ body }) => body['detail'] !== 'reward');

  it.each(['in this process', 'through a Worker'])(
    '%s prints the replies, and the reason of each other row',
    async (where) => {
      const file = join(directory, `${command}.jsonl`);
      await writeFile(file, cases.map(({ name, body }) => `${JSON.stringify({ ...body, id: name })}\n`).join(''));
      const there = where === 'through a Worker' ? ['--url', url] : [];
      const ended = await citeward(command, file, '--json', ...there);
      const printed = new Map(jsonLines(ended.stdout).map(({ line: _line, id, ...reply }) => [id, steady(reply)]));
      for (const [position, { name, without_worker, ...asWorker }] of cases.entries()) {
        const { status, reply } = there.length === 0 ? (without_worker ?? asWorker) : asWorker;
        const wrong = new RegExp(`^line ${position + 1}: .+`, 'mu').exec(ended.stderr)?.[0];
        if (status === 200) expect(printed.get(name), name).toEqual(reply);
        else if (status === 422) expect(wrong, name).toContain(faultOf(reply));
        // A row without a result is printed with its reason, or named in the messages.
        else expect(JSON.stringify(printed.get(name)) ?? wrong, name).toContain(reasonOf(reply));
      }
    },
  );
});
