/** The bindings of `citeward serve` as a Worker sees them; what they acknowledged survives a SIGKILL. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Probe, startProbe } from './serve-probe.ts';

let probe: Probe;

beforeAll(async () => {
  probe = await startProbe();
});

afterAll(() => probe?.stop());

describe('KV', () => {
  const stored = {
    bulk: [
      ['a/1', 'one'],
      ['gone', null],
      ['a/2', '{"two":2}'],
    ],
    json: { two: 2 },
    missing: null,
    other: null,
    metadata: expect.objectContaining({ value: 'one', metadata: { n: 1 } }),
    bytes: [0, 255],
    large: 3_000_000,
  };

  it('stores values, metadata and bytes, and lists keys page by page', async () => {
    await probe.run('kvWrite');
    expect(await probe.run('kvRead')).toEqual(stored);
    expect(await probe.run('kvList')).toEqual({
      first: [{ name: 'a/1', metadata: { n: 1 } }],
      complete: false,
      rest: ['a/2'],
      all: 4,
    });
  });

  it('refuses an expiry below the limit of the platform', async () => {
    await expect(probe.run('kvShort')).rejects.toThrow('400');
  });

  it('keeps what it acknowledged through a SIGKILL', async () => {
    await probe.restart();
    expect(await probe.run('kvRead')).toEqual(stored);
  });
});

describe('R2', () => {
  it('stores objects and reads parts of them', async () => {
    expect(await probe.run('r2Write')).toEqual({ size: 2_500_000, etag: 32 });
    expect(await probe.run('r2Read')).toEqual({
      whole: 'dir/a',
      suffix: '/a',
      from: 'a',
      overChunks: Array.from({ length: 12 }, (_, n) => (1_048_570 + n) % 251),
      size: 2_500_000,
      empty: '',
      missing: null,
      head: [2_500_000, { a: 'b' }, 'text/x'],
    });
  });

  it('obeys conditions and digests', async () => {
    expect(await probe.run('r2Conditions')).toEqual({ stored: [true, false, true], withBody: false, text: '3' });
    expect(await probe.run('r2Digests')).toEqual({ good: 64, bad: 'refused', text: 'text' });
  });

  it('lists by prefix and delimiter, and deletes', async () => {
    const names = ['dir/a', 'dir/b', 'dir/large', 'dir/sub/c'];
    expect(await probe.run('r2List')).toEqual({
      objects: names.slice(0, 3),
      prefixes: ['dir/sub/'],
      names,
      left: names.slice(2),
    });
  });

  it('assembles the parts of an upload', async () => {
    expect(await probe.run('r2Multipart')).toEqual({
      size: 5 * 1024 * 1024 + 3,
      tail: [7, 7, ...Buffer.from('end')],
      never: null,
    });
  });
});

it('D1 runs statements, and a batch as one transaction', async () => {
  expect(await probe.run('d1')).toEqual({
    changes: 1,
    last: 1,
    failed: expect.stringContaining('UNIQUE constraint failed'),
    rows: [[{ id: 1, name: 'a' }], [{ n: 1 }]],
    first: [1, 2],
    wrong: expect.stringContaining('D1_ERROR: no such column'),
  });
});

it('a queue delivers, retries, and passes what keeps failing to its dead-letter queue', async () => {
  await probe.run('send');
  const deliveries = [
    ...[
      ['work', { n: 1 }, 1],
      ['work', { n: 2 }, 1],
    ],
    ...[1, 2, 3].map((attempt) => ['work', { fails: true }, attempt]),
    ...[1, 2, 3].map((attempt) => ['work', { throws: true }, attempt]),
    ...[
      ['dead', { fails: true }, 1],
      ['dead', { throws: true }, 1],
    ],
  ];
  await vi.waitFor(
    async () => {
      const seen = await probe.run('seen');
      expect(seen).toHaveLength(deliveries.length);
      expect(seen).toEqual(expect.arrayContaining(deliveries));
    },
    { timeout: 30_000, interval: 100 },
  );
});

it('a rate limit counts by key', async () => {
  expect(await probe.run('limit')).toEqual([true, true, true, false, true]);
});

it('deliveries reach public addresses only, whatever a name resolves to; judges may be on this machine', async () => {
  const receiver = createServer((_, reply) => reply.end()).listen(0, '0.0.0.0');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const found = await probe.run('networks', { port: String(port) });
  const reached = [200, expect.stringMatching(/^Error: /u)];
  expect(found).toEqual({
    localhost: reached,
    '127.0.0.1': reached,
    '[::ffff:127.0.0.1]': [expect.anything(), expect.stringMatching(/^Error: /u)],
    '0.0.0.0': [expect.anything(), expect.stringMatching(/^Error: /u)],
  });
  receiver.close();
});

it('settings override those of the file, whatever their characters', async () => {
  expect(await probe.run('settings')).toEqual(['given "quoted"\nline', 'kept']);
});

it('files have their headers, and redirects their target', async () => {
  const page = await fetch(`${probe.url}/`);
  expect([page.status, page.headers.get('x-own'), await page.text()]).toEqual([200, 'yes', '<p>page</p>']);
  const same = await fetch(`${probe.url}/`, { headers: { 'if-none-match': '"e"' } });
  expect(same.status).toBe(304);
  const moved = await fetch(`${probe.url}/old`, { redirect: 'manual' });
  expect([moved.status, moved.headers.get('location')]).toEqual([302, '/#/new']);
});
