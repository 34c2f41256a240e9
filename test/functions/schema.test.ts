/**
 * Two isolates that make the tables of D1 at the same time. The first waits before one of its statements until the
 * second has made all tables and stored a row: the row is there afterwards, whichever statement waited.
 */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { database } from '../../functions/storage/schema.ts';
import { type Detour, detoured } from '../contract/detoured-binding.ts';

/** Tables of a database as released before projects existed, each with a row. */
const OLD_TABLES = ['CREATE TABLE files (id TEXT PRIMARY KEY)', "INSERT INTO files (id) VALUES ('of-an-old-version')"];

async function run(...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await env.DB.prepare(statement).run();
}

async function tables(): Promise<string[]> {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%' ORDER BY name",
  ).all<{ name: string }>();
  return results.map(({ name }) => name);
}

beforeEach(async () => {
  for (const name of await tables()) await run(`DROP TABLE ${name}`);
});

/** An isolate of its own: its binding is another object. `before` is awaited before call number `pausedAt`. */
function isolate(pausedAt: number | null = null, before: () => Promise<void> = async () => undefined) {
  let calls = 0;
  const pausing: Detour = async (_method, _args, proceed) => {
    if (calls++ === pausedAt) await before();
    return proceed();
  };
  return { db: detoured(env.DB, () => pausing), calls: () => calls };
}

async function fill(): Promise<void> {
  await database(isolate().db);
  await run("INSERT INTO projects (project) VALUES ('alpha')");
  await run("INSERT INTO batches (id, project, created_at, snapshot) VALUES ('b', 'alpha', 1, '{}')");
}

describe.each([
  ['an empty database', []],
  ['a database of an old version', OLD_TABLES],
] as const)('two starts on %s', (_name, old) => {
  it('leave what the second one stored, at every interleaving', async () => {
    const counting = isolate();
    await run(...old);
    await database(counting.db);
    const made = await tables();
    expect(made).toContain('api_keys');
    expect(counting.calls()).toBeGreaterThan(5);
    for (let pausedAt = 0; pausedAt < counting.calls(); pausedAt++) {
      for (const name of await tables()) await run(`DROP TABLE ${name}`);
      await run(...old);
      await database(isolate(pausedAt, fill).db);
      expect(await tables(), `paused at call ${pausedAt}`).toEqual(made);
      const rows = await env.DB.prepare(
        'SELECT (SELECT COUNT(*) FROM projects) + (SELECT COUNT(*) FROM batches)',
      ).raw();
      expect(rows, `paused at call ${pausedAt}`).toEqual([[2]]);
    }
  });
});

it('a failure of D1 is thrown, and the next start makes the tables', async () => {
  const failing = isolate(3, async () => {
    throw new Error('D1_ERROR: Network connection lost.');
  });
  await expect(database(failing.db)).rejects.toThrow('Network connection lost');
  await database(isolate().db);
  expect(await tables()).toContain('api_keys');
});
