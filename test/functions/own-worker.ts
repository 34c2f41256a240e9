/** Setup of each file: ends what the file replaced and stored, because the next file runs in the same Worker. */
import { reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll } from 'vitest';
import { database } from '../../functions/storage/schema.ts';
import { restoreParts } from './worker.ts';

afterAll(async () => {
  restoreParts();
  await reset();
  // The isolate remembers that this database has tables, so another object makes them anew.
  await database(Object.create(env.DB));
});
