/** `/v1/batches` in OpenAI's shape. The Durable Object of a batch owns its state; D1 only lists batches. */

import { bytesToHex } from '@noble/hashes/utils.js';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import { requiredScopes } from '../../../service/required-scopes.ts';
import { batchRequestSchema, windowHours } from '../../../src/wire/batches/batch.ts';
import { askBatch } from '../../batches/batch-client.ts';
import { BatchList } from '../../batches/batch-list.ts';
import { NEW_BATCH_VERSION, type NewBatch } from '../../batches/batch-messages.ts';
import { newFileId } from '../../storage/files.ts';
import { endpointExists } from '../../webhooks/endpoint-client.ts';
import { checkScope } from '../auth.ts';
import { readJson } from '../body.ts';
import { projectOf, storesOf } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';

const HOUR_MS = 60 * 60 * 1000;

export const batchHandlers = {
  'POST /v1/batches': async (c) => {
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
  },
  'GET /v1/batches': async (c, { after = null, limit }) => {
    const page = await new BatchList(c.env.DB, projectOf(c)).page({ after, limit });
    if (page === null) throw invalidInput(['query', 'after'], 'expected the id of a batch');
    const { batches, has_more } = page;
    const first_id = batches[0]?.id ?? null;
    return c.json({ object: 'list', data: batches, first_id, last_id: batches.at(-1)?.id ?? null, has_more });
  },
  'GET /v1/batches/{id}': async (c) => {
    return c.json(
      await askBatch(
        c.env,
        projectOf(c),
        pathParameter(c, 'id'),
        'describe',
        async (object) => await object.describe(),
      ),
    );
  },
  'POST /v1/batches/{id}/cancel': async (c) => {
    const { cancelled, batch } = await askBatch(
      c.env,
      projectOf(c),
      pathParameter(c, 'id'),
      'cancel',
      async (object) => await object.cancel(),
    );
    if (!cancelled) throw new RequestError({ reason: 'batch_is_over', status: batch.status });
    return c.json(batch);
  },
  'POST /v1/batches/{id}/redrive': async (c) => {
    return c.json(
      await askBatch(c.env, projectOf(c), pathParameter(c, 'id'), 'redrive', async (object) => await object.redrive()),
    );
  },
} satisfies Partial<Handlers>;

const ID_BYTES = 16;

function newBatchId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return `batch_${bytesToHex(bytes)}`;
}
