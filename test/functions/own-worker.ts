/** Setup of each file: ends what the file replaced and stored, because the next file runs in the same Worker. */
import { reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { database } from '../../functions/storage/schema.ts';
import { restoreParts } from './worker.ts';

// A file that begins with the spies or the clock of another would pass or fail by the order of the files.
beforeAll(() => {
  expect([vi.isMockFunction(console.log), vi.isMockFunction(globalThis.fetch), vi.isFakeTimers()]).toEqual([
    false,
    false,
    false,
  ]);
});

afterAll(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  restoreParts();
  await reset();
  // The isolate remembers that this database has tables, so another object makes them anew.
  await database(Object.create(env.DB));
});
