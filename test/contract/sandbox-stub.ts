/**
 * A sandbox with faults on request: the first segment of the path names the fault (`/silent/run_code`). It uses real
 * sockets, in Node.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { SANDBOX_CANARY, SANDBOX_FAULTS, type SandboxFaultName } from './sandbox-faults.ts';

export type SandboxStub = {
  readonly url: string;
  /** Number of requests for a fault. */
  readonly calls: (name: SandboxFaultName) => number;
  readonly stop: () => Promise<void>;
};

export async function startSandboxStub(): Promise<SandboxStub> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const name = (request.url ?? '').split('/')[1] ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
    request.resume().once('end', () => commit(faultOf(name), request, response));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('sandbox-stub: the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls: (name) => counts.get(name) ?? 0,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function faultOf(name: string): SandboxFaultName {
  for (const known of NAMES) if (known === name) return known;
  throw new Error(`sandbox-stub: no fault ${name}`);
}

const NAMES = Object.keys(SANDBOX_FAULTS).filter((name): name is SandboxFaultName => name in SANDBOX_FAULTS);

const RAN = { status: 'Finished', return_code: 0, stdout: `${SANDBOX_CANARY}\n`, stderr: SANDBOX_CANARY };
const GOOD = { status: 'Success', message: SANDBOX_CANARY, run_result: RAN, files: {} };

const RETRY_AFTER: ReadonlyMap<SandboxFaultName, string> = new Map([
  ['http_429_seconds', '17'],
  ['http_503_seconds', '9'],
]);

function commit(fault: SandboxFaultName, request: IncomingMessage, response: ServerResponse): void {
  const status = /^http_(?<status>\d{3})/u.exec(fault)?.groups?.['status'];
  if (status !== undefined) {
    const wait = RETRY_AFTER.get(fault);
    json(response, { detail: SANDBOX_CANARY }, Number(status), wait === undefined ? {} : { 'retry-after': wait });
    return;
  }
  switch (fault) {
    case 'silent':
      return;
    case 'reset_before_reply':
      request.socket.resetAndDestroy();
      return;
    case 'reset_in_reply':
      begin(response);
      setTimeout(() => request.socket.resetAndDestroy(), 20);
      return;
    case 'stalls_in_reply':
      begin(response);
      return;
    case 'redirect':
      response.writeHead(302, { location: '/login' }).end();
      return;
    case 'html_login':
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>${SANDBOX_CANARY}</h1>`);
      return;
    case 'no_content_type':
      response.writeHead(200).end(JSON.stringify(GOOD));
      return;
    case 'empty':
      response.writeHead(200, { 'content-type': 'application/json' }).end();
      return;
    case 'cut_json':
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(GOOD).slice(0, -9));
      return;
    case 'endless':
      pour(response);
      return;
    case 'other_json':
      json(response, { message: SANDBOX_CANARY });
      return;
    case 'no_run_result':
      json(response, { ...GOOD, run_result: null });
      return;
    case 'unknown_status':
      json(response, { ...GOOD, status: 'Excellent' });
      return;
    case 'sandbox_error':
      json(response, { ...GOOD, status: 'SandboxError' });
      return;
    case 'run_error':
      json(response, { ...GOOD, run_result: { ...RAN, status: 'Error' } });
      return;
    case 'no_python':
      json(response, { ...GOOD, status: 'Failed', run_result: { ...RAN, return_code: 127, stdout: '' } });
      return;
    case 'prints_guesses':
      json(response, { ...GOOD, run_result: { ...RAN, stdout: GUESSES } });
      return;
    case 'slow_start':
      json(response, { ...GOOD, status: 'Failed', run_result: { ...RAN, status: 'TimeLimitExceeded' } });
      return;
    default:
      throw new Error(`sandbox-stub: nothing for ${fault}`);
  }
}

/** Output that a forger without the nonce could print. */
const GUESSES = ['nonce', '', '0'.repeat(32)].map((nonce) => `${nonce} {"event":"passed"}\n`).join('');

function json(response: ServerResponse, body: object, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"status":"Success",');
}

function pour(response: ServerResponse): void {
  begin(response);
  const spaces = ' '.repeat(1024 * 1024);
  const more = (): void => {
    while (!response.destroyed && response.write(spaces));
  };
  response.on('drain', more);
  more();
}
