/**
 * Files and uploads through OpenAI's own client, unmodified, against the Worker as a process; and a connection that
 * breaks.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import OpenAI, { ConflictError, NotFoundError, toFile, UnprocessableEntityError } from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';

const KEY = 'k'.repeat(43);
const temporary = mkdtempSync(join(tmpdir(), 'citeward-files-'));
let worker: LocalWorker;
let client: OpenAI;

beforeAll(async () => {
  const sha256 = createHash('sha256').update(KEY).digest('hex');
  const API_KEYS = JSON.stringify({ tester: { sha256, scopes: ['batch'] } });
  const state = join(temporary, 'state');
  worker = await startLocalWorker({ variables: { API_KEYS }, deadline_ms: 60_000, state });
  client = new OpenAI({ apiKey: KEY, baseURL: `${worker.url}/v1` });
});

afterAll(async () => {
  await worker?.stop();
  rmSync(temporary, { recursive: true, force: true });
});

const LINES = `${JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/verify', body: {} })}\n`.repeat(1_000);

async function contentOf(id: string): Promise<Buffer> {
  const reply = await client.files.content(id);
  return Buffer.from(await reply.arrayBuffer());
}

describe("OpenAI's client", () => {
  it('creates files from a buffer and from a stream, its fields in any order, and reads them back', async () => {
    const path = join(temporary, 'zeilen ö.jsonl');
    writeFileSync(path, LINES);
    const started = Math.floor(Date.now() / 1000);
    for (const [make, filename] of [
      [async () => ({ file: await toFile(Buffer.from(LINES), 'rows.jsonl'), purpose: 'batch' }), 'rows.jsonl'],
      [async () => ({ purpose: 'batch', file: await toFile(Buffer.from(LINES), 'rows.jsonl') }), 'rows.jsonl'],
      [async () => ({ file: createReadStream(path), purpose: 'batch' }), 'zeilen ö.jsonl'],
      [async () => ({ purpose: 'batch', file: createReadStream(path, { highWaterMark: 77 }) }), 'zeilen ö.jsonl'],
    ] satisfies [() => Promise<OpenAI.FileCreateParams>, string][]) {
      const file = await client.files.create(await make());
      expect(file).toMatchObject({
        object: 'file',
        bytes: LINES.length,
        filename,
        purpose: 'batch',
        status: 'processed',
      });
      expect(file.created_at).toBeGreaterThanOrEqual(started);
      expect(await client.files.retrieve(file.id)).toEqual(file);
      expect((await client.files.waitForProcessing(file.id)).status).toBe('processed');
      expect((await contentOf(file.id)).toString()).toBe(LINES);
    }
    const file = await client.files.create({
      file: await toFile(Buffer.from(LINES), 'rows.jsonl'),
      purpose: 'batch',
      expires_after: { anchor: 'created_at', seconds: 3_600 },
    });
    expect(file.expires_at).toBe(file.created_at + 3_600);
  });

  it('lists page by page and deletes as it goes', async () => {
    const listed: string[] = [];
    for await (const { id } of client.files.list({ limit: 2, order: 'asc', purpose: 'batch' })) listed.push(id);
    expect(listed).toHaveLength(5);
    const whole = await client.files.list();
    expect(new Set(whole.data.map(({ id }) => id))).toEqual(new Set(listed));
    expect(whole.hasNextPage()).toBe(false);
    for await (const { id } of client.files.list({ limit: 2 })) {
      expect(await client.files.delete(id)).toMatchObject({ id, object: 'file', deleted: true });
    }
    expect((await client.files.list()).data).toEqual([]);
  });

  it('uploads parts side by side, completes them and cancels', async () => {
    const bytes = randomBytes(21_000_000);
    const md5 = createHash('md5').update(bytes).digest('hex');
    const upload = await client.uploads.create({
      bytes: bytes.length,
      filename: 'large.jsonl',
      mime_type: 'application/jsonl',
      purpose: 'batch',
    });
    expect(upload).toMatchObject({ object: 'upload', status: 'pending', bytes: bytes.length, purpose: 'batch' });
    const pieces = [bytes.subarray(0, 9_000_000), bytes.subarray(9_000_000, 9_000_100), bytes.subarray(9_000_100)];
    const parts = await Promise.all(
      pieces.map(async (piece) => client.uploads.parts.create(upload.id, { data: await toFile(piece, 'part') })),
    );
    expect(parts.map(({ object, upload_id }) => [object, upload_id])).toEqual(
      pieces.map(() => ['upload.part', upload.id]),
    );
    const part_ids = parts.map(({ id }) => id);
    const completed = await client.uploads.complete(upload.id, { part_ids, md5 });
    expect(completed).toMatchObject({ id: upload.id, status: 'completed', file: { filename: 'large.jsonl' } });
    expect((await contentOf(completed.file?.id ?? '')).equals(bytes)).toBe(true);
    await client.files.delete(completed.file?.id ?? '');

    const other = await client.uploads.create({
      bytes: 1,
      filename: 'f',
      mime_type: 'application/jsonl',
      purpose: 'batch',
    });
    expect(await client.uploads.cancel(other.id)).toMatchObject({ id: other.id, status: 'cancelled' });
    const late = client.uploads.parts.create(other.id, { data: await toFile(Buffer.from('x'), 'part') });
    await expect(late).rejects.toThrow(ConflictError);
  });

  it('is told what is wrong', async () => {
    const wrong = client.files.create({ file: await toFile(Buffer.from('x'), 'x'), purpose: 'fine-tune' });
    const error = await wrong.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnprocessableEntityError);
    expect(error).toMatchObject({ code: 'input_invalid', param: 'purpose', type: 'invalid_request_error' });
    expect(String(error)).toContain('not for "fine-tune"');
    const missing = client.files.retrieve(`file-${'x'.repeat(24)}`);
    await expect(missing).rejects.toThrow(NotFoundError);
    await expect(missing).rejects.toMatchObject({ code: 'file_not_found', requestID: expect.any(String) });
  });

  it('can read a part of a file', async () => {
    const file = await client.files.create({ file: await toFile(Buffer.from('0123456789'), 'f'), purpose: 'batch' });
    const reply = await client.files.content(file.id, { headers: { range: 'bytes=2-4' } });
    expect([reply.status, await reply.text()]).toEqual([206, '234']);
    await client.files.delete(file.id);
  });
});

/** Number of chunks that the bucket holds: of whole objects, of parts and of what is being written. */
function chunks(): number {
  const folder = join(temporary, 'state', 'objects', 'citeward-R2Object');
  const names = readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/u.test(name));
  return names.reduce((sum, name) => {
    using database = new DatabaseSync(join(folder, name), { readOnly: true });
    return sum + Number(database.prepare('SELECT count(*) AS n FROM chunks').get()?.['n']);
  }, 0);
}

describe('a connection that breaks', () => {
  it('leaves neither a file nor bytes', async () => {
    await vi.waitFor(() => expect(chunks()).toBe(0), { timeout: 20_000 });
    const request = httpRequest(`${worker.url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'multipart/form-data; boundary=b' },
    });
    const broken = new Promise((resolve) => request.on('error', resolve));
    request.write('--b\r\ncontent-disposition: form-data; name=file; filename=f\r\n\r\n');
    const chunk = Buffer.alloc(1_000_000, 'x');
    for (let sent = 0; sent < 30; sent++) {
      await new Promise((resolve) => request.write(chunk, resolve));
    }
    // Two parts and more are stored by now.
    await vi.waitFor(() => expect(chunks()).toBeGreaterThan(10), { timeout: 20_000 });
    request.destroy(new Error('gone'));
    await broken;
    await vi.waitFor(() => expect(chunks()).toBe(0), { timeout: 20_000, interval: 200 });
    expect((await client.files.list()).data).toEqual([]);
  });
});
