/** Files and uploads through the API: OpenAI's shapes, streamed forms, and cleanup after failures. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import worker from '../../functions/index.ts';
import { R2_PART_BYTES } from '../../functions/storage/part-writer.ts';
import {
  MAX_FILE_BYTES,
  MAX_FORM_FIELD_BYTES,
  MAX_FORM_IGNORED_BYTES,
  MAX_UPLOAD_PART_BYTES,
} from '../../src/limits.ts';
import { type FileReply, fileListSchema, fileSchema, uploadPartSchema, uploadSchema } from '../../src/wire/files.ts';
import { Faults } from '../contract/faulty-bindings.ts';
import { digestOf, empty, keysOf, pattern } from '../contract/file-storage.case.ts';
import { ORIGIN, post, problemOf, ROLLOUT, send, sha256Hex } from './api.ts';
import { triedSizes } from './matrix-rows.ts';

type Field = readonly [string, string | Blob];

function form(path: string, fields: readonly Field[]): Request {
  const body = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === 'string') body.append(name, value);
    else body.append(name, value);
  }
  return new Request(ORIGIN + path, { method: 'POST', body });
}

const jsonl = (text: string | Uint8Array, name = 'rows.jsonl'): File => new File([text], name);
const get = (path: string, headers: Record<string, string> = {}): Request => new Request(ORIGIN + path, { headers });
const remove = (path: string): Request => new Request(ORIGIN + path, { method: 'DELETE' });

async function ok<T>(schema: { parse(value: unknown): T }, reply: Response): Promise<T> {
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return schema.parse(JSON.parse(text));
}

/** workerd warns of text() where the type says bytes. */
async function textOf(reply: Response): Promise<string> {
  return new TextDecoder().decode(await reply.arrayBuffer());
}

async function create(fields: readonly Field[]): Promise<FileReply> {
  return ok(fileSchema, await send(form('/v1/files', fields)));
}

const BATCH: Field = ['purpose', 'batch'];

async function listed(query = ''): Promise<FileReply[]> {
  return (await ok(fileListSchema, await send(get(`/v1/files${query}`)))).data;
}

async function nothingIsLeft(): Promise<void> {
  expect(await listed()).toEqual([]);
  expect(await keysOf(env.FILES)).toEqual([]);
}

beforeEach(() => empty({ bucket: env.FILES, db: env.DB }));

describe('a file', () => {
  it('is stored, told of, listed, read and removed', async () => {
    const before = Math.floor(Date.now() / 1000);
    const text = '{"custom_id":"ö"}\n';
    const file = await create([BATCH, ['file', jsonl(text)]]);
    expect(file).toEqual({
      id: expect.stringMatching(/^file-[A-Za-z0-9_-]{24}$/),
      object: 'file',
      bytes: 19,
      created_at: expect.any(Number),
      filename: 'rows.jsonl',
      purpose: 'batch',
      status: 'processed',
    });
    expect(file.created_at).toBeGreaterThanOrEqual(before);
    expect(await ok(fileSchema, await send(get(`/v1/files/${file.id}`)))).toEqual(file);
    expect(await ok(fileListSchema, await send(get('/v1/files')))).toEqual({
      object: 'list',
      data: [file],
      has_more: false,
      first_id: file.id,
      last_id: file.id,
    });
    const content = await send(get(`/v1/files/${file.id}/content`));
    expect(await textOf(content)).toBe(text);
    const removed = await send(remove(`/v1/files/${file.id}`));
    expect(await removed.json()).toEqual({ id: file.id, object: 'file', deleted: true });
    for (const request of [remove(`/v1/files/${file.id}`), get(`/v1/files/${file.id}/content`), get('/v1/files/x')]) {
      await problemOf(await send(request), 404, 'file_not_found');
    }
    await nothingIsLeft();
  });

  it('comes in a form with its fields in any order, others between them', async () => {
    const other: Field = ['model', 'x'.repeat(100_000)];
    const file: Field = ['file', jsonl('a')];
    for (const fields of [
      [file, BATCH],
      [other, file, other, BATCH],
      [BATCH, ['file2', jsonl('b')], file],
    ] satisfies Field[][]) {
      expect(await create(fields)).toMatchObject({ bytes: 1, filename: 'rows.jsonl' });
    }
  });

  it('can be empty, large, and named in any script without a path', async () => {
    expect((await create([BATCH, ['file', jsonl('', '')]])).filename).toBe('file');
    const bytes = pattern(2 * R2_PART_BYTES + 12_345);
    const large = await create([['file', jsonl(bytes, 'C:\\dir/名 "1".jsonl')], BATCH]);
    expect(large).toMatchObject({ bytes: bytes.length, filename: '名 "1".jsonl' });
    const content = await send(get(`/v1/files/${large.id}/content`));
    expect(await digestOf(await content.arrayBuffer())).toBe(await digestOf(bytes));
  });

  it('expires when it is told to', async () => {
    const lifetime = (anchor: string, seconds: string): Field[] => [
      ['expires_after[anchor]', anchor],
      ['expires_after[seconds]', seconds],
    ];
    const file = await create([...lifetime('created_at', '3600'), ['file', jsonl('a')], BATCH]);
    expect(file.expires_at).toBe(file.created_at + 3600);
    for (const [fields, path] of [
      [lifetime('created_at', '60'), 'expires_after.seconds'],
      [lifetime('last_used_at', '3600'), 'expires_after.anchor'],
      [lifetime('created_at', '3600').slice(1), 'expires_after.anchor'],
    ] as const) {
      const refused = await send(form('/v1/files', [BATCH, ['file', jsonl('a')], ...fields]));
      expect((await problemOf(refused, 422, 'input_invalid')).error).toMatchObject({ param: path });
    }
    await env.DB.prepare('UPDATE files SET expires_at = 1 WHERE id = ?').bind(file.id).run();
    await problemOf(await send(get(`/v1/files/${file.id}`)), 404, 'file_not_found');
    const young = await create([BATCH, ['file', jsonl('a')]]);
    expect(await keysOf(env.FILES)).toEqual([`files/default/${young.id}`]);
  });

  it('is refused for another purpose, by name, and nothing of it stays', async () => {
    const file: Field = ['file', jsonl('a')];
    for (const fields of [[['purpose', 'fine-tune'], file] as const, [file, ['purpose', 'fine-tune']] as const]) {
      const problem = await problemOf(await send(form('/v1/files', fields)), 422, 'input_invalid');
      expect(problem.errors).toEqual([{ path: 'purpose', message: expect.stringContaining('"fine-tune"') }]);
      expect(problem.error).toMatchObject({ type: 'invalid_request_error', param: 'purpose', code: 'input_invalid' });
    }
    const unknown = await problemOf(await send(form('/v1/files', [['purpose', 'canary'], file])), 422, 'input_invalid');
    expect(JSON.stringify(unknown)).not.toContain('canary');
    await problemOf(await send(form('/v1/files', [file])), 422, 'input_invalid');
    await problemOf(await send(form('/v1/files', [BATCH])), 422, 'input_invalid');
    await problemOf(
      await send(form('/v1/files', [BATCH, ['file', jsonl('a', 'x'.repeat(256))]])),
      422,
      'input_invalid',
    );
    await nothingIsLeft();
  });

  it('is refused where the form is none', async () => {
    const part = '--b\r\ncontent-disposition: form-data; name=';
    const content = `${part}file; filename=f\r\n\r\nabc\r\n`;
    for (const [type, body, status, reason] of [
      ['application/json', '{}', 415, 'content_type_unsupported'],
      ['multipart/form-data', content, 400, 'multipart_malformed'],
      ['multipart/form-data; boundary=b', '', 400, 'multipart_malformed'],
      ['multipart/form-data; boundary=b', content, 400, 'multipart_malformed'],
      ['multipart/form-data; boundary=b', `${content}${content}--b--`, 400, 'multipart_malformed'],
      ['multipart/form-data; boundary=b', `${content}${part}purpose\r\n\r\n\xff`, 400, 'multipart_malformed'],
      [
        'multipart/form-data; boundary=b',
        `${part}purpose\r\n\r\n${'x'.repeat(MAX_FORM_FIELD_BYTES + 1)}\r\n${content}--b--`,
        400,
        'multipart_malformed',
      ],
    ] as const) {
      const request = new Request(`${ORIGIN}/v1/files`, { method: 'POST', headers: { 'content-type': type }, body });
      await problemOf(await send(request), status, reason);
    }
    const long = await send(
      form('/v1/files', [BATCH, ['file', jsonl('a')], ['other', 'x'.repeat(MAX_FORM_IGNORED_BYTES + 1)]]),
    );
    await problemOf(long, 400, 'multipart_malformed');
    await nothingIsLeft();
  });

  it('is refused over its size, told of it first', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(2 * MAX_FILE_BYTES) };
    const request = new Request(`${ORIGIN}/v1/files`, { method: 'POST', headers, body: 'x' });
    const problem = await problemOf(await send(request), 413, 'file_too_large');
    expect(problem.detail).toContain(String(MAX_FILE_BYTES));
  });

  it.runIf(inject('triesAllRows'))('is refused over its size, not told of it first', async () => {
    const { id } = await begin();
    const large = bodyOf('data', MAX_UPLOAD_PART_BYTES + 1);
    await problemOf(await send(formStream(`/v1/uploads/${id}/parts`, large)), 413, 'file_too_large');
    expect(await keysOf(env.FILES)).toEqual([]);
    const largest = bodyOf('data', MAX_UPLOAD_PART_BYTES);
    await ok(uploadPartSchema, await send(formStream(`/v1/uploads/${id}/parts`, largest)));
  });
});

type Chunks = Generator<Uint8Array> | AsyncGenerator<Uint8Array>;

/** A form with one file of spaces, in chunks. */
function* bodyOf(field: string, bytes: number): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(`--b\r\ncontent-disposition: form-data; name=${field}; filename=f\r\n\r\n`);
  const chunk = new Uint8Array(1_000_000).fill(0x20);
  for (let left = bytes; left > 0; left -= chunk.length) yield chunk.slice(0, left);
  yield encoder.encode('\r\n--b\r\ncontent-disposition: form-data; name=purpose\r\n\r\nbatch\r\n--b--');
}

function formStream(path: string, chunks: Chunks, breaksAfterBytes = Number.POSITIVE_INFINITY): Request {
  let bytes = 0;
  const body = new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      const { done, value } = await chunks.next();
      bytes += value?.length ?? 0;
      if (bytes > breaksAfterBytes) controller.error(new Error('connection lost'));
      else if (done === true) {
        controller.close();
        controller.byobRequest?.respond(0);
      } else controller.enqueue(value);
    },
  });
  return new Request(ORIGIN + path, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body,
  });
}

describe('a connection that breaks', () => {
  const faults = new Faults();
  const bindings = { FILES: faults.wrap(env.FILES), DB: faults.wrap(env.DB) };

  it.each(triedSizes(0, 10, 100, 5_000_000, 20_000_000, 24_999_990))('after %i bytes leaves nothing', async (bytes) => {
    const { id } = await begin();
    for (const [path, field] of [
      ['/v1/files', 'file'],
      [`/v1/uploads/${id}/parts`, 'data'],
    ] as const) {
      const reply = await sendWith(bindings, formStream(path, bodyOf(field, 25_000_000), bytes));
      await problemOf(reply, 400, 'body_interrupted');
      expect(faults.openUploads.size).toBe(0);
      await nothingIsLeft();
    }
  });
});

/** The Worker with other bindings or variables. */
async function sendWith(changes: Partial<typeof env> & { API_KEYS?: string }, request: Request): Promise<Response> {
  const context = createExecutionContext();
  const incoming = new Request<unknown, IncomingRequestCfProperties>(request);
  const reply = await worker.fetch(incoming, { ...env, ...changes }, context);
  await waitOnExecutionContext(context);
  return reply;
}

describe('the list of files', () => {
  it('comes in pages', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await create([BATCH, ['file', jsonl(String(i))]])).id);
    const all = (await listed('?order=asc')).map(({ id }) => id);
    expect(new Set(all)).toEqual(new Set(ids));
    expect((await listed()).map(({ id }) => id)).toEqual(all.toReversed());
    const page = await ok(fileListSchema, await send(get(`/v1/files?order=asc&limit=2&after=${all[1]}`)));
    expect(page).toMatchObject({ has_more: true, first_id: all[2], last_id: all[3] });
    expect(await listed(`?order=asc&after=${all[4]}`)).toEqual([]);
    expect(await listed('?purpose=batch_output&unknown=1')).toEqual([]);
    expect(await listed('?purpose=batch')).toHaveLength(5);
  });

  it('takes no other query', async () => {
    for (const query of ['limit=0', 'limit=10001', 'limit=x', 'order=up', 'after=file-nowhere', 'limit=1&limit=2']) {
      const problem = await problemOf(await send(get(`/v1/files?${query}`)), 422, 'input_invalid');
      expect(problem.errors?.[0]?.path).toBe(`query.${query.split('=')[0]}`);
    }
  });
});

describe('the content of a file', () => {
  it('is an attachment that no browser reads as a page', async () => {
    const { id } = await create([BATCH, ['file', jsonl('<script>', 'ö "\n;.html')]]);
    const { headers } = await send(get(`/v1/files/${id}/content`));
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="_ ___.html"; filename*=UTF-8''%C3%B6%20%22%0A%3B.html`,
      'x-content-type-options': 'nosniff',
      'content-length': '8',
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      etag: `"${id}"`,
    });
  });

  it('comes in ranges', async () => {
    const { id } = await create([BATCH, ['file', jsonl('0123456789')]]);
    const range = async (asked: string, condition: Record<string, string> = {}) => {
      const reply = await send(get(`/v1/files/${id}/content`, { range: asked, ...condition }));
      return [reply.status, await textOf(reply), reply.headers.get('content-range')];
    };
    expect(await range('bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10']);
    expect(await range('bytes=7-')).toEqual([206, '789', 'bytes 7-9/10']);
    expect(await range('bytes=7-99')).toEqual([206, '789', 'bytes 7-9/10']);
    expect(await range('bytes=-3')).toEqual([206, '789', 'bytes 7-9/10']);
    expect(await range('bytes=-99')).toEqual([206, '0123456789', 'bytes 0-9/10']);
    expect(await range('bytes=2-4', { 'if-range': `"${id}"` })).toEqual([206, '234', 'bytes 2-4/10']);
    for (const ignored of ['bytes=4-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'bytes=a-b']) {
      expect(await range(ignored)).toEqual([200, '0123456789', null]);
    }
    expect(await range('bytes=2-4', { 'if-range': '"other"' })).toEqual([200, '0123456789', null]);
    for (const beyond of ['bytes=10-', 'bytes=10-12', 'bytes=-0']) {
      const reply = await send(get(`/v1/files/${id}/content`, { range: beyond }));
      expect(reply.headers.get('content-range')).toBe('bytes */10');
      await problemOf(reply, 416, 'range_not_satisfiable');
    }
    const none = await create([BATCH, ['file', jsonl('')]]);
    expect((await send(get(`/v1/files/${none.id}/content`))).status).toBe(200);
    expect((await send(get(`/v1/files/${none.id}/content`, { range: 'bytes=0-' }))).status).toBe(416);
  });
});

const UPLOAD = { bytes: 6, filename: 'rows.jsonl', mime_type: 'application/jsonl', purpose: 'batch' };

async function begin(changes: object = {}) {
  return ok(uploadSchema, await send(post('/v1/uploads', { ...UPLOAD, ...changes })));
}

async function addPart(upload: string, content: string | Uint8Array): Promise<string> {
  const reply = await send(form(`/v1/uploads/${upload}/parts`, [['data', new Blob([content])]]));
  return (await ok(uploadPartSchema, reply)).id;
}

const completion = (id: string, part_ids: readonly string[], rest = {}): Request =>
  post(`/v1/uploads/${id}/complete`, { part_ids, ...rest });
const cancellation = (id: string): Request => new Request(`${ORIGIN}/v1/uploads/${id}/cancel`, { method: 'POST' });

describe('an upload', () => {
  it('makes a file of its parts in the order that is asked for', async () => {
    const upload = await begin({ unknown: 1, expires_after: { anchor: 'created_at', seconds: 7200 } });
    expect(upload).toEqual({
      id: expect.stringMatching(/^upload_[A-Za-z0-9_-]{24}$/),
      object: 'upload',
      bytes: 6,
      created_at: expect.any(Number),
      expires_at: upload.created_at + 3600,
      filename: 'rows.jsonl',
      purpose: 'batch',
      status: 'pending',
    });
    const [third, first, unused, second] = [
      await addPart(upload.id, 'ef'),
      await addPart(upload.id, 'abc'),
      await addPart(upload.id, 'not this'),
      await addPart(upload.id, 'd'),
    ];
    expect(unused).toMatch(/^part_/);
    const md5 = 'E80B5017098950FC58AAD83C8C14978E';
    const { file, ...completed } = await ok(
      uploadSchema,
      await send(completion(upload.id, [first, second, third], { md5, unknown: 1 })),
    );
    expect(completed).toEqual({ ...upload, status: 'completed' });
    expect(file).toMatchObject({ object: 'file', bytes: 6, filename: 'rows.jsonl', status: 'processed' });
    expect(file?.expires_at).toBe((file?.created_at ?? 0) + 7200);
    expect(await textOf(await send(get(`/v1/files/${file?.id}/content`)))).toBe('abcdef');
    expect(await listed()).toEqual([file]);
    expect(await keysOf(env.FILES)).toEqual([`files/default/${file?.id}`]);
  });

  it('makes equal parts of unequal ones', async () => {
    const bytes = pattern(R2_PART_BYTES + 5_000_000);
    const upload = await begin({ bytes: bytes.length });
    const parts: string[] = [];
    let at = 0;
    for (const size of [1, 6_000_000, 0, 3_000_000, bytes.length]) {
      parts.push(await addPart(upload.id, bytes.slice(at, at + size)));
      at += size;
    }
    const { file } = await ok(uploadSchema, await send(completion(upload.id, parts)));
    const content = await send(get(`/v1/files/${file?.id}/content`));
    expect(await digestOf(await content.arrayBuffer())).toBe(await digestOf(bytes));
  });

  it('refuses a completion that does not fit, and can be completed after it', async () => {
    const upload = await begin();
    const [a, b] = [await addPart(upload.id, 'abc'), await addPart(upload.id, 'def')];
    const foreign = await addPart((await begin()).id, 'xyz');
    for (const [parts, rest, path] of [
      [[a], {}, 'part_ids'],
      [[a, b, a], {}, 'part_ids[2]'],
      [[a, foreign], {}, 'part_ids[1]'],
      [[a, '../../files/x'], {}, 'part_ids[1]'],
      [[a, b], { md5: '0'.repeat(32) }, 'md5'],
      [[a, b], { md5: 'x' }, 'md5'],
    ] as const) {
      const problem = await problemOf(await send(completion(upload.id, parts, rest)), 422, 'input_invalid');
      expect(problem.error?.param).toBe(path);
    }
    expect(await listed()).toEqual([]);
    expect((await keysOf(env.FILES)).filter((key) => key.startsWith('files/'))).toEqual([]);
    await ok(uploadSchema, await send(completion(upload.id, [b, a])));
  });

  it('gives the same file to the same completion, and nothing to another', async () => {
    const upload = await begin();
    const [a, b] = [await addPart(upload.id, 'abc'), await addPart(upload.id, 'def')];
    const [one, two] = await Promise.all([send(completion(upload.id, [a, b])), send(completion(upload.id, [a, b]))]);
    const [file] = await listed();
    expect(await listed()).toHaveLength(1);
    const replies = [one, two].filter(({ status }) => status === 200);
    expect(replies.length).toBeGreaterThan(0);
    for (const reply of [...replies, await send(completion(upload.id, [a, b]))]) {
      expect((await ok(uploadSchema, reply)).file).toEqual(file);
    }
    expect(await keysOf(env.FILES)).toEqual([`files/default/${file?.id}`]);
    const other = await problemOf(await send(completion(upload.id, [b, a])), 409, 'upload_not_pending');
    expect(other.detail).toContain('completed');
    await problemOf(await send(cancellation(upload.id)), 409, 'upload_not_pending');
    await send(remove(`/v1/files/${file?.id}`));
    await problemOf(await send(completion(upload.id, [a, b])), 409, 'upload_not_pending');
  });

  it('is cancelled with its parts, again if need be, and takes nothing more', async () => {
    const upload = await begin();
    const part = await addPart(upload.id, 'abcdef');
    const cancelled = { ...upload, status: 'cancelled' };
    expect(await ok(uploadSchema, await send(cancellation(upload.id)))).toEqual(cancelled);
    expect(await ok(uploadSchema, await send(cancellation(upload.id)))).toEqual(cancelled);
    const late = await send(form(`/v1/uploads/${upload.id}/parts`, [['data', new Blob(['x'])]]));
    await problemOf(late, 409, 'upload_not_pending');
    await problemOf(await send(completion(upload.id, [part])), 409, 'upload_not_pending');
    await nothingIsLeft();
  });

  it('takes back a part that meets its cancellation', async () => {
    const upload = await begin();
    async function* cancelling(): AsyncGenerator<Uint8Array> {
      yield* bodyOf('data', 20_000_000);
      expect((await send(cancellation(upload.id))).status).toBe(200);
    }
    const reply = await send(formStream(`/v1/uploads/${upload.id}/parts`, cancelling()));
    await problemOf(reply, 409, 'upload_not_pending');
    await nothingIsLeft();
  });

  it('expires with its parts', async () => {
    const upload = await begin();
    const part = await addPart(upload.id, 'abcdef');
    await env.DB.prepare('UPDATE uploads SET expires_at = 1 WHERE id = ?').bind(upload.id).run();
    for (const request of [
      form(`/v1/uploads/${upload.id}/parts`, [['data', new Blob(['x'])]]),
      completion(upload.id, [part]),
      cancellation(upload.id),
    ]) {
      const problem = await problemOf(await send(request), 409, 'upload_not_pending');
      expect(problem.detail).toContain('expired');
    }
    await begin();
    await nothingIsLeft();
  });

  it('is refused where it is not known, or asks for too much', async () => {
    for (const id of ['upload_x', `upload_${'x'.repeat(24)}`]) {
      for (const request of [
        form(`/v1/uploads/${id}/parts`, [['data', new Blob(['x'])]]),
        completion(id, []),
        cancellation(id),
      ]) {
        await problemOf(await send(request), 404, 'upload_not_found');
      }
    }
    for (const [field, value] of [
      ['bytes', MAX_FILE_BYTES + 1],
      ['bytes', -1],
      ['bytes', undefined],
      ['filename', ''],
      ['purpose', 'vision'],
    ] as const) {
      const reply = await send(post('/v1/uploads', { ...UPLOAD, [field]: value }));
      expect((await problemOf(reply, 422, 'input_invalid')).error?.param).toBe(field);
    }
  });
});

describe('keys and errors', () => {
  it('need the scope "batch"', async () => {
    const API_KEYS = JSON.stringify({ k: { sha256: await sha256Hex('key'), scopes: ['verify', 'score', 'admin'] } });
    const requests = [
      form('/v1/files', [BATCH, ['file', jsonl('a')]]),
      get('/v1/files'),
      get('/v1/files/x'),
      remove('/v1/files/x'),
      get('/v1/files/x/content'),
      post('/v1/uploads', UPLOAD),
      form('/v1/uploads/x/parts', [['data', new Blob(['x'])]]),
      completion('x', []),
      cancellation('x'),
    ];
    for (const request of requests) {
      const known = new Request(request, { headers: [...request.headers, ['authorization', 'Bearer key']] });
      const problem = await problemOf(await sendWith({ API_KEYS }, known), 403, 'scope_missing');
      expect(problem.detail).toContain('"batch"');
      expect(problem.error).toMatchObject({ code: 'scope_missing', param: null });
    }
    await nothingIsLeft();
  });

  it("are said in OpenAI's way where the route is of its shape, and only there", async () => {
    const missing = await send(get('/v1/files/x'));
    expect(missing.headers.get('x-should-retry')).toBe('false');
    expect((await problemOf(missing, 404, 'file_not_found')).error).toEqual({
      message: 'No file has this id.',
      type: 'invalid_request_error',
      param: null,
      code: 'file_not_found',
    });
    expect((await problemOf(await send(get('/v1/batches/x/y')), 404, 'route_unknown')).error?.code).toBe(
      'route_unknown',
    );
    const native = await send(post('/v1/score', { ...ROLLOUT, question: 1 }));
    expect(native.headers.has('x-should-retry')).toBe(false);
    expect((await problemOf(native, 422, 'input_invalid')).error).toBeUndefined();
    expect((await problemOf(await send(get('/v1/filesystem')), 404, 'route_unknown')).error).toBeUndefined();
  });
});

describe('storage that fails', () => {
  const faults = new Faults();
  const bindings = { FILES: faults.wrap(env.FILES), DB: faults.wrap(env.DB) };

  /** Sends a request with each of its storage calls going wrong in turn. */
  async function withEachFault(
    prepare: () => Promise<() => Request>,
    check: (reply: Response, request: () => Request, what: string) => Promise<void>,
  ): Promise<void> {
    // Tables are made by the first call of a binding.
    await sendWith(bindings, get('/v1/files'));
    const sample = await prepare();
    faults.clear();
    expect((await sendWith(bindings, sample())).status).toBe(200);
    const calls = [...faults.calls];
    for (const [position, call] of calls.entries()) {
      for (const kind of ['fails', 'lost_acknowledgement'] as const) {
        await empty({ bucket: env.FILES, db: env.DB });
        const request = await prepare();
        faults.clear();
        faults.openUploads.clear();
        faults.plan(call, kind, calls.slice(0, position).filter((name) => name === call).length);
        const reply = await sendWith(bindings, request());
        const what = `call ${position}, ${call}, ${kind}`;
        expect(faults.pending, what).toBe(false);
        expect([200, 503], what).toContain(reply.status);
        if (reply.status === 503) {
          expect(reply.headers.get('retry-after'), what).not.toBeNull();
          const problem = await problemOf(reply.clone(), 503, 'storage_failed');
          expect(problem).toMatchObject({ retryable: true, error: { type: 'server_error', code: 'storage_failed' } });
        }
        await check(reply, request, what);
      }
    }
  }

  it.each(triedSizes(100, R2_PART_BYTES + 100))('leaves no file of %i bytes, or a whole one', async (bytes) => {
    const content = pattern(bytes);
    await withEachFault(
      async () => () => form('/v1/files', [BATCH, ['file', jsonl(content)]]),
      async (reply, _request, what) => {
        const files = await listed();
        expect(files, what).toHaveLength(reply.status === 200 ? 1 : 0);
        expect(await keysOf(env.FILES), what).toEqual(files.map(({ id }) => `files/default/${id}`));
        // An upload whose beginning was not acknowledged has no name to abort it by: R2 drops it after seven days.
        const lost = what.endsWith('createMultipartUpload, lost_acknowledgement') ? 1 : 0;
        expect(faults.openUploads.size, what).toBe(lost);
      },
    );
  });

  it('lets a part be sent again', async () => {
    await withEachFault(
      async () => {
        const { id } = await begin();
        return () => form(`/v1/uploads/${id}/parts`, [['data', new Blob(['abcdef'])]]);
      },
      async (reply, request, what) => {
        expect(await keysOf(env.FILES), what).toHaveLength(reply.status === 200 ? 1 : 0);
        expect((await send(request())).status, what).toBe(200);
      },
    );
  });

  it('lets a completion be asked for again, and leaves one file', async () => {
    await withEachFault(
      async () => {
        const { id } = await begin();
        const parts = [await addPart(id, 'abc'), await addPart(id, 'def')];
        return () => completion(id, parts);
      },
      async (reply, request, what) => {
        const again = await ok(uploadSchema, await send(request()));
        const files = await listed();
        expect(files, what).toEqual([again.file]);
        if (reply.status === 200) expect((await ok(uploadSchema, reply)).file, what).toEqual(again.file);
        expect(await textOf(await send(get(`/v1/files/${again.file?.id}/content`))), what).toBe('abcdef');
        // Parts whose removal failed go when the next upload begins.
        await begin();
        expect(await keysOf(env.FILES), what).toEqual([`files/default/${again.file?.id}`]);
      },
    );
  });

  it('lets a removal be asked for again', async () => {
    await withEachFault(
      async () => {
        const { id } = await create([BATCH, ['file', jsonl('abc')]]);
        return () => remove(`/v1/files/${id}`);
      },
      async (reply, request, what) => {
        if (reply.status !== 200) await send(request());
        expect(await listed(), what).toEqual([]);
        expect(await keysOf(env.FILES), what).toEqual([]);
      },
    );
  });

  it('lets a cancellation be asked for again', async () => {
    await withEachFault(
      async () => {
        const { id } = await begin();
        await addPart(id, 'abc');
        return () => cancellation(id);
      },
      async (_reply, request, what) => {
        expect((await ok(uploadSchema, await send(request()))).status, what).toBe('cancelled');
        expect(await keysOf(env.FILES), what).toEqual([]);
      },
    );
  });
});
