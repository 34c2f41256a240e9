/** `citeward runs watch --webhook`: an active alert is sent, signed so that the standard's own package accepts it. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCiteward } from './processes.ts';

const SECRET = `whsec_${Buffer.from('s'.repeat(32)).toString('base64')}`;
const ALERT = {
  rule: 'no_signal',
  message: 'No group gives a signal.',
  since: 4,
  until: 7,
  active: true,
  figures: {},
  rollouts: [],
  shown: null,
  paying: null,
  remedy: null,
};
const ALERTS = { run: 'r', window: 4, steps: 8, alerts: [ALERT], unwatched: [], judge_checks: [] };

/** The receiver refuses the first attempt of each test. */
const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
let url: string;
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    if (request.url === '/healthz') response.end('{"status":"ok"}');
    else if (request.url?.startsWith('/v1/runs/r/alerts') === true) response.end(JSON.stringify(ALERTS));
    else {
      received.push({ headers: request.headers, body });
      response.statusCode = received.length === 1 ? 503 : 204;
      response.end();
    }
  });
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = `http://127.0.0.1:${address.port}`;
});

afterAll(() => server.close());

const watch = (env: Readonly<Record<string, string>>) =>
  runCiteward({ args: ['runs', 'watch', 'r', '--url', url, '--webhook', `${url}/hook`, '--json'], env });

test('an active alert reaches the receiver, once more after a failure, and the exit code stays 3', async () => {
  const ended = await watch({ CITEWARD_WEBHOOK_SECRET: SECRET, WEBHOOK_ALLOW_LOOPBACK: 'true' });
  expect(ended.code, ended.stderr).toBe(3);
  expect(received).toHaveLength(2);
  const [first, second] = received;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  const headers = Object.fromEntries(
    Object.entries(second?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  );
  expect(new Webhook(SECRET).verify(second?.body ?? '', headers)).toMatchObject({ type: 'run.alert', data: ALERTS });
});

test('a missing secret is an error before anything is watched', async () => {
  const ended = await watch({ CITEWARD_WEBHOOK_SECRET: 'secret', WEBHOOK_ALLOW_LOOPBACK: 'true' });
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('--webhook needs the secret')]);
});

test('a receiver on this machine is refused before anything is watched, unless the setting allows it', async () => {
  const before = received.length;
  const ended = await watch({ CITEWARD_WEBHOOK_SECRET: SECRET });
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('--webhook: expected an https URL')]);
  expect(ended.stderr).toContain('WEBHOOK_ALLOW_LOOPBACK=true');
  expect(received).toHaveLength(before);
});
