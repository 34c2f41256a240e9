import { createServer } from 'node:http';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { checkAddress } from '../../../cli/commands/doctor/run.ts';

it('takes a Worker with keys for one, and no other server', async () => {
  let status = 'ok';
  const worker = createServer(({ url }, response) => {
    response.statusCode = url === '/healthz' ? 200 : 401;
    const body = url === '/healthz' ? { status } : { reason: 'key_missing', detail: 'Send a key.', request_id: 'r' };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise<void>((done) => worker.listen(0, '127.0.0.1', done));
  const address = worker.address();
  if (address === null || typeof address === 'string') throw new Error('the Worker has no port');
  const { port } = address;
  const what = `port ${port}`;
  const detail = `a Worker listens: --url http://127.0.0.1:${port}`;
  expect(await checkAddress('127.0.0.1', port)).toEqual({ what, ok: true, detail, hint: null });
  status = 'fine';
  const taken = `${what} of 127.0.0.1 is in use by ${basename(process.execPath)}, process ${process.pid}`;
  const hint = expect.stringMatching(/^Port (\d+) is free: start the Worker with --port \1\.$/u);
  expect(await checkAddress('127.0.0.1', port)).toEqual({ what, ok: false, detail: taken, hint });
  await new Promise((closed) => worker.close(closed));
  expect(await checkAddress('127.0.0.1', port)).toMatchObject({ ok: true, detail: 'free' });
});
