/** `/v1/batches` in OpenAI's shape. The Durable Object of a batch owns its state; D1 only lists batches. */
import { bytesToHex } from '@noble/hashes/utils.js';
import { Hono } from 'hono';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import { requiredScopes } from '../../../service/required-scopes.ts';
import { batchListQuerySchema, batchRequestSchema, windowHours } from '../../../src/wire/batches/batch.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { askBatch } from '../../batches/batch-client.ts';
import { BatchList } from '../../batches/batch-list.ts';
import { NEW_BATCH_VERSION, type NewBatch } from '../../batches/batch-messages.ts';
import { newFileId } from '../../storage/files.ts';
import { endpointExists } from '../../webhooks/endpoint-client.ts';
import { checkScope, requireScope } from '../auth.ts';
import { readJson, readQuery } from '../body.ts';
import { type AppEnvironment, projectOf, storesOf } from '../context.ts';

const HOUR_MS = 60 * 60 * 1000;

export const batchRoutes = new Hono<AppEnvironment>()
  .post('/v1/batches', requireScope('batch'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const request = await readJson(c, batchRequestSchema);
    const [{ scope, needed_by }] = requiredScopes(request.endpoint, {});
    checkScope(c, { scope, needed_by: `A batch of ${needed_by}` });
    const project = projectOf(c);
    const file = await storesOf(c).files.get(request.input_file_id);
    if (file === null) throw new RequestError({ reason: 'file_not_found' });
    if (request.webhook !== undefined && !(await endpointExists(c.env, { project, id: request.webhook }))) {
      throw invalidInput(['webhook'], 'expected the id of a registered webhook endpoint');
    }
    if (file.purpose !== 'batch') throw invalidInput(['input_file_id'], 'expected a file with the purpose "batch"');
    const now = Date.now();
    const batch: NewBatch = {
      v: NEW_BATCH_VERSION,
      id: newBatchId(),
      project,
      endpoint: request.endpoint,
      scopes: [...(c.get('principal')?.scopes ?? [])],
      input_file_id: request.input_file_id,
      completion_window: request.completion_window,
      metadata: request.metadata ?? null,
      webhook: request.webhook ?? null,
      created_at: now,
      expires_at: now + windowHours(request.completion_window) * HOUR_MS,
      output_file_id: newFileId(),
      error_file_id: newFileId(),
    };
    return c.json(await askBatch(c.env, project, batch.id, 'create', async (object) => await object.create(batch)));
  })
  .get('/v1/batches', requireScope('batch'), async (c) => {
    const { after = null, limit } = readQuery(c, batchListQuerySchema);
    const page = await new BatchList(c.env.DB, projectOf(c)).page({ after, limit });
    if (page === null) throw invalidInput(['query', 'after'], 'expected the id of a batch');
    const { batches, has_more } = page;
    const first_id = batches[0]?.id ?? null;
    return c.json({ object: 'list', data: batches, first_id, last_id: batches.at(-1)?.id ?? null, has_more });
  })
  .get('/v1/batches/:id', requireScope('batch'), async (c) => {
    readQuery(c, emptyQuerySchema);
    return c.json(
      await askBatch(c.env, projectOf(c), c.req.param('id'), 'describe', async (object) => await object.describe()),
    );
  })
  .post('/v1/batches/:id/cancel', requireScope('batch'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const { cancelled, batch } = await askBatch(
      c.env,
      projectOf(c),
      c.req.param('id'),
      'cancel',
      async (object) => await object.cancel(),
    );
    if (!cancelled) throw new RequestError({ reason: 'batch_is_over', status: batch.status });
    return c.json(batch);
  })
  .post('/v1/batches/:id/redrive', requireScope('batch'), async (c) => {
    readQuery(c, emptyQuerySchema);
    return c.json(
      await askBatch(c.env, projectOf(c), c.req.param('id'), 'redrive', async (object) => await object.redrive()),
    );
  });

const ID_BYTES = 16;

function newBatchId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return `batch_${bytesToHex(bytes)}`;
}
