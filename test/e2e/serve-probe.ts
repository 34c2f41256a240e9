/**
 * A small Worker in place of Citeward under `citeward serve`, which runs the functions below against its bindings:
 * KV, R2, D1, a queue, a rate limit and files, through workerd's own bindings.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  D1Database,
  Fetcher,
  KVNamespace,
  Queue,
  R2Bucket,
  R2Objects,
  R2Range,
  RateLimit,
} from '@cloudflare/workers-types';
import { ensureServeFiles } from '../../scripts/build-serve.ts';
import { type Server, startServer } from '../../serve/server.ts';
import { SERVE_FILES, type WorkerDescription } from '../../serve/worker-description.ts';

const CONSUMER = {
  ...{ max_batch_size: 1, max_batch_timeout: 0, max_retries: 2, dead_letter_queue: 'dead', retry_delay: 0 },
  max_concurrency: 4,
};

const DESCRIPTION: WorkerDescription = {
  compatibility_date: '2026-10-20',
  compatibility_flags: [],
  variables: { GREETING: 'from the file', OTHER: 'kept' },
  kv_namespaces: ['KV', 'KV2'],
  r2_buckets: ['BUCKET'],
  d1_databases: ['DB'],
  durable_objects: [],
  queue_producers: [{ binding: 'QUEUE', queue: 'work' }],
  queue_consumers: {
    work: CONSUMER,
    dead: { ...CONSUMER, max_batch_size: 10, max_batch_timeout: 1, dead_letter_queue: null },
  },
  crons: ['* * * * *'],
  rate_limits: [{ binding: 'LIMIT', limit: 3, period: 60 }],
  assets: {
    '/': { file: 'index.html', headers: { 'content-type': 'text/html', etag: '"e"', 'x-own': 'yes' } },
    '/old': { location: '/#/new', status: 302 },
  },
};

/** Runs each request's function; the name of the test is its path. */
const WORKER = `
  import { WorkerEntrypoint } from 'cloudflare:workers';
  export class ObjectsEntry extends WorkerEntrypoint {
    async start() { await this.env.SERVE_CLOCK.start(); }
  }
  const seen = [];
  let isolate = null;
  const tests = {TESTS};
  export default {
    async fetch(request, env, ctx) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === '/start') { await env.SERVE_CLOCK.start(); return new Response('started'); }
      if (env.SERVE_ASSET_PATHS[pathname]) return env.ASSETS.fetch(request);
      const test = tests[pathname.slice(1)];
      if (test === undefined) return new Response('ok', { status: pathname === '/healthz' ? 200 : 404 });
      try {
        isolate ??= crypto.randomUUID();
        const value = await test(env, seen, Object.fromEntries(searchParams));
        return Response.json(value ?? null, { headers: { 'x-isolate': isolate } });
      } catch (error) {
        return new Response(String(error), { status: 500 });
      }
    },
    async queue(batch, env) {
      for (const message of batch.messages) {
        seen.push([batch.queue, message.body, message.attempts]);
        if (batch.queue === 'work' && message.body.fails) message.retry();
      }
      if (batch.messages.some(({ body }) => body.throws && batch.queue === 'work')) throw new Error('broken');
    },
    async scheduled({ cron }) { seen.push(['cron', cron]); },
  };
`;

/** The functions run in workerd: they may use nothing but their arguments. */
const tests = {
  kvWrite: async (env: TestEnvironment) => {
    await env.KV.put('a/1', 'one', { metadata: { n: 1 } });
    await env.KV.put('a/2', JSON.stringify({ two: 2 }), { expirationTtl: 3600 });
    await env.KV.put('b ü/%/?', new Uint8Array([0, 255]).buffer);
    await env.KV.put('large', 'x'.repeat(3_000_000));
    await env.KV.put('gone', 'y');
    await env.KV.delete('gone');
  },
  kvRead: async (env: TestEnvironment) => ({
    bulk: [...(await env.KV.get(['a/1', 'gone', 'a/2'], 'text'))],
    json: await env.KV.get('a/2', 'json'),
    missing: await env.KV.get('gone'),
    other: await env.KV2.get('a/1'),
    metadata: await env.KV.getWithMetadata('a/1'),
    bytes: [...new Uint8Array((await env.KV.get('b ü/%/?', 'arrayBuffer')) ?? new ArrayBuffer(0))],
    large: (await env.KV.get('large'))?.length,
  }),
  kvList: async (env: TestEnvironment) => {
    const first = await env.KV.list({ prefix: 'a/', limit: 1 });
    const rest = first.list_complete ? null : await env.KV.list({ prefix: 'a/', limit: 1, cursor: first.cursor });
    return {
      first: first.keys,
      complete: first.list_complete,
      rest: rest?.keys.map(({ name }) => name),
      all: (await env.KV.list()).keys.length,
    };
  },
  kvShort: async (env: TestEnvironment) => env.KV.put('k', 'v', { expirationTtl: 5 }),
  r2Write: async (env: TestEnvironment) => {
    const bytes = Uint8Array.from({ length: 2_500_000 }, (_, n) => n % 251);
    const put = await env.BUCKET.put('dir/large', bytes, {
      customMetadata: { a: 'b' },
      httpMetadata: { contentType: 'text/x' },
    });
    for (const name of ['dir/a', 'dir/b', 'dir/sub/c', 'top']) await env.BUCKET.put(name, name);
    await env.BUCKET.put('empty', '');
    return { size: put?.size, etag: put?.etag.length };
  },
  r2Read: async (env: TestEnvironment) => {
    const text = async (range?: R2Range) =>
      (await env.BUCKET.get('dir/a', range === undefined ? {} : { range }))?.text();
    const large = await env.BUCKET.get('dir/large', { range: { offset: 1_048_570, length: 12 } });
    const head = await env.BUCKET.head('dir/large');
    return {
      whole: await text(),
      suffix: await text({ suffix: 2 }),
      from: await text({ offset: 4 }),
      overChunks: [...new Uint8Array((await large?.arrayBuffer()) ?? new ArrayBuffer(0))],
      size: (await (await env.BUCKET.get('dir/large'))?.arrayBuffer())?.byteLength,
      empty: await (await env.BUCKET.get('empty'))?.text(),
      missing: await env.BUCKET.get('none'),
      head: [head?.size, head?.customMetadata, head?.httpMetadata?.contentType],
    };
  },
  r2Conditions: async (env: TestEnvironment) => {
    const once = { onlyIf: { etagDoesNotMatch: '*' } };
    const first = await env.BUCKET.put('once', '1', once);
    const second = await env.BUCKET.put('once', '2', once);
    const matching = await env.BUCKET.put('once', '3', { onlyIf: { etagMatches: first?.etag ?? '' } });
    const unchanged = await env.BUCKET.get('once', { onlyIf: { etagDoesNotMatch: matching?.etag ?? '' } });
    return {
      stored: [first !== null, second !== null, matching !== null],
      withBody: unchanged !== null && 'body' in unchanged,
      text: await (await env.BUCKET.get('once'))?.text(),
    };
  },
  r2Digests: async (env: TestEnvironment) => {
    const sha256 = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('text'));
    const good = await env.BUCKET.put('digest', 'text', { sha256 });
    const bad = await env.BUCKET.put('digest', 'other', { sha256 }).then(
      () => 'stored',
      () => 'refused',
    );
    return { good: good?.checksums.toJSON().sha256?.length, bad, text: await (await env.BUCKET.get('digest'))?.text() };
  },
  r2List: async (env: TestEnvironment) => {
    const delimited = await env.BUCKET.list({ prefix: 'dir/', delimiter: '/' });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page: R2Objects = await env.BUCKET.list({
        prefix: 'dir/',
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      names.push(...page.objects.map(({ key }) => key));
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
    await env.BUCKET.delete(['dir/a', 'dir/b']);
    const left = (await env.BUCKET.list({ prefix: 'dir/' })).objects.map(({ key }) => key);
    return { objects: delimited.objects.map(({ key }) => key), prefixes: delimited.delimitedPrefixes, names, left };
  },
  r2Multipart: async (env: TestEnvironment) => {
    const part = new Uint8Array(5 * 1024 * 1024).fill(7);
    const upload = await env.BUCKET.createMultipartUpload('multi', { customMetadata: { m: '1' } });
    const two = await upload.uploadPart(2, 'end');
    const one = await upload.uploadPart(1, part);
    const object = await upload.complete([one, two]);
    const tail = await (await env.BUCKET.get('multi', { range: { suffix: 5 } }))?.arrayBuffer();
    const aborted = await env.BUCKET.createMultipartUpload('never');
    await aborted.uploadPart(1, 'x');
    await aborted.abort();
    return {
      size: object.size,
      tail: [...new Uint8Array(tail ?? new ArrayBuffer(0))],
      never: await env.BUCKET.head('never'),
    };
  },
  d1: async (env: TestEnvironment) => {
    await env.DB.exec('CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, name TEXT, bytes BLOB)');
    const run = await env.DB.prepare('INSERT INTO t (name, bytes) VALUES (?, ?)')
      .bind('a', new Uint8Array([1, 2]))
      .run();
    const insert = env.DB.prepare('INSERT INTO t (id, name) VALUES (?, ?)');
    const failed = await env.DB.batch([insert.bind(10, 'b'), insert.bind(1, 'twice')]).then(() => null, String);
    const rows = await env.DB.batch([
      env.DB.prepare('SELECT id, name FROM t'),
      env.DB.prepare('SELECT count(*) AS n FROM t'),
    ]);
    return {
      changes: run.meta.changes,
      last: run.meta.last_row_id,
      failed,
      rows: rows.map(({ results }) => results),
      first: await env.DB.prepare('SELECT bytes FROM t').first('bytes'),
      wrong: await env.DB.prepare('SELECT absent')
        .all()
        .then(() => null, String),
    };
  },
  send: async (env: TestEnvironment) => {
    await env.QUEUE.send({ n: 1 });
    await env.QUEUE.sendBatch([{ body: { n: 2 } }, { body: { fails: true } }, { body: { throws: true } }]);
  },
  seen: async (_: TestEnvironment, seen: unknown[]) => seen,
  limit: async (env: TestEnvironment) => {
    const results = [];
    for (let n = 0; n < 4; n++) results.push((await env.LIMIT.limit({ key: 'k' })).success);
    return [...results, (await env.LIMIT.limit({ key: 'other' })).success];
  },
  settings: async (env: TestEnvironment) => [env.GREETING, env.OTHER],
  networks: async (env: TestEnvironment, _: unknown[], { port }: Readonly<Record<string, string>>) => {
    const statusOf = (sent: Promise<{ readonly status: number }>) => sent.then(({ status }) => status, String);
    const found: Record<string, unknown> = {};
    for (const host of ['localhost', '127.0.0.1', '[::ffff:127.0.0.1]', '0.0.0.0']) {
      const url = `http://${host}:${port}/`;
      found[host] = [await statusOf(fetch(url)), await statusOf(env.PUBLIC_NETWORK.fetch(url))];
    }
    return found;
  },
  stores: async (env: TestEnvironment) => {
    await env.KV.put('key', 'value');
    await env.BUCKET.put('key', 'value');
    await env.DB.exec('CREATE TABLE IF NOT EXISTS everywhere (id INTEGER PRIMARY KEY)');
    await env.QUEUE.send({ n: 1 });
    await env.SERVE_CLOCK.start();
    return {
      kv: await env.KV.get('key'),
      missing: await env.KV.get('none'),
      r2: await (await env.BUCKET.get('key', { range: { suffix: 3 } }))?.text(),
      size: (await env.BUCKET.head('key'))?.size,
      sum: await env.DB.prepare('SELECT 1 + 2 AS sum').first('sum'),
      started: true,
    };
  },
};

type TestEnvironment = {
  readonly KV: KVNamespace;
  readonly KV2: KVNamespace;
  readonly BUCKET: R2Bucket;
  readonly DB: D1Database;
  readonly QUEUE: Queue<unknown>;
  readonly LIMIT: RateLimit;
  readonly PUBLIC_NETWORK: Fetcher;
  readonly SERVE_CLOCK: { start(): Promise<void> };
  readonly GREETING: string;
  readonly OTHER: string;
};

export type Probe = {
  readonly url: string;
  /** Runs a function in the Worker. Returns its value. @throws Error with what it threw. */
  run(name: keyof typeof tests, query?: Readonly<Record<string, string>>): Promise<unknown>;
  /** Kills workerd and starts it again with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** @param processes of workerd. */
export async function startProbe(processes = 1): Promise<Probe> {
  const folder = mkdtempSync(join(tmpdir(), 'citeward-serve-'));
  const files = join(folder, 'files');
  cpSync(await ensureServeFiles(), files, { recursive: true });
  const code = Object.entries(tests).map(([name, test]) => `${JSON.stringify(name)}: ${test}`);
  writeFileSync(
    join(files, SERVE_FILES.citeward),
    WORKER.replace('{TESTS}', () => `{${code.join(',\n')}}`),
  );
  writeFileSync(join(files, SERVE_FILES.description), JSON.stringify(DESCRIPTION));
  mkdirSync(join(files, SERVE_FILES.dashboard), { recursive: true });
  writeFileSync(join(files, SERVE_FILES.dashboard, 'index.html'), '<p>page</p>');
  const start = (): Promise<Server> => {
    const options = {
      files,
      state: join(folder, 'state'),
      host: '127.0.0.1',
      port: 0,
      processes,
      onLog: () => undefined,
    };
    return startServer({ ...options, settings: { GREETING: 'given "quoted"\nline' } });
  };
  let server = await start();
  return {
    get url() {
      return server.url;
    },
    async run(name, query = {}) {
      const reply = await fetch(`${server.url}/${name}?${new URLSearchParams(query)}`);
      const text = await reply.text();
      if (!reply.ok) throw new Error(text);
      return JSON.parse(text);
    },
    async restart() {
      await server.kill();
      server = await start();
    },
    async stop() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
