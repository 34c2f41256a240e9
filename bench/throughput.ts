/**
 * `npm run bench`: throughput of `/v1/verify` under plain `workerd serve`, relative to a Worker that only
 * parses and echoes the same JSON. `wrangler dev` is about ten times slower than workerd and would dominate the
 * measurement. Targets: at least 60% of the echo's requests per second without evidence, 40% with lexical evidence.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureDashboard } from '../scripts/build-dashboard.ts';
import { typicalRollout } from './typical-rollout.ts';

const ROUND_MS = 1_500;
const ROUNDS = 5;
const CONNECTIONS = 4;

const root = resolve(import.meta.dirname, '..');

const ECHO_WORKER = 'export default { async fetch(request) { return Response.json(await request.json()); } };';

async function buildBundle(outdir: string): Promise<string> {
  // wrangler refuses a configuration whose assets are missing.
  await ensureDashboard();
  const wrangler = resolve(root, 'node_modules/wrangler/bin/wrangler.js');
  const built = spawnSync(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', outdir], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
  });
  if (built.status !== 0) throw new Error(`wrangler deploy --dry-run failed:\n${built.stdout}${built.stderr}`);
  const module = readdirSync(outdir).find((name) => name === 'index.js');
  if (module === undefined) throw new Error(`no index.js in ${outdir}`);
  return module;
}

function configuration(module: string, ports: { readonly citeward: number; readonly echo: number }): string {
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "citeward", worker = .citeward), (name = "echo", worker = .echo) ],
  sockets = [
    ( name = "citeward", address = "127.0.0.1:${ports.citeward}", http = (), service = "citeward" ),
    ( name = "echo", address = "127.0.0.1:${ports.echo}", http = (), service = "echo" ),
  ]
);
const citeward :Workerd.Worker = (
  modules = [ (name = "index.js", esModule = embed "${module}") ],
  bindings = [ (name = "ALLOW_ANONYMOUS", text = "true"), (name = "ALLOW_LEXICAL_JUDGE", text = "true") ],
  compatibilityDate = "2026-10-20",
);
const echo :Workerd.Worker = (
  modules = [ (name = "echo.js", esModule = embed "echo.js") ],
  compatibilityDate = "2026-10-20",
);
`;
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null ? done(address.port) : fail(new Error('no port')),
      );
    });
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

function post(port: number, path: string, body: string): Promise<number> {
  return new Promise((done, fail) => {
    const outgoing = request(
      {
        port,
        path,
        method: 'POST',
        agent,
        host: '127.0.0.1',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        response.resume();
        response.on('end', () => done(response.statusCode ?? 0));
        response.on('error', fail);
      },
    );
    outgoing.on('error', fail);
    outgoing.end(body);
  });
}

async function waitUntilUp(port: number, path: string, body: string): Promise<void> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    try {
      if ((await post(port, path, body)) === 200) return;
      throw new Error(`port ${port} does not answer 200 on ${path}`);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((wake) => setTimeout(wake, 100));
    }
  }
}

async function requestsPerSecond(port: number, path: string, body: string): Promise<number> {
  const started = performance.now();
  let finished = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() - started < ROUND_MS) {
        const status = await post(port, path, body);
        if (status !== 200) throw new Error(`${path} answered ${status}`);
        finished++;
      }
    }),
  );
  return (finished * 1000) / (performance.now() - started);
}

function median(values: readonly number[]): number {
  const value = [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
  if (value === undefined) throw new RangeError('median of nothing');
  return value;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'citeward-bench-'));
  let server: ChildProcess | null = null;
  try {
    const module = await buildBundle(folder);
    const ports = { citeward: await freePort(), echo: await freePort() };
    writeFileSync(join(folder, 'echo.js'), ECHO_WORKER);
    writeFileSync(join(folder, 'config.capnp'), configuration(module, ports));
    const workerd = resolve(root, 'node_modules/workerd/bin/workerd');
    // workerd's npm wrapper starts the binary as a child process, so the whole process group must be killed.
    server = spawn(process.execPath, [workerd, 'serve', join(folder, 'config.capnp')], {
      stdio: 'ignore',
      detached: true,
    });
    const { response, tool_output } = typicalRollout();
    const body = JSON.stringify({ response, tool_output });
    const routes = [
      { name: 'parse and echo the same JSON', port: ports.echo, path: '/' },
      { name: '/v1/verify', port: ports.citeward, path: '/v1/verify' },
      { name: '/v1/verify?evidence=lexical', port: ports.citeward, path: '/v1/verify?evidence=lexical' },
    ];
    for (const { port, path } of routes) {
      await waitUntilUp(port, path, body);
      await requestsPerSecond(port, path, body);
    }
    const rounds = routes.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [position, { port, path }] of routes.entries()) {
        rounds[position]?.push(await requestsPerSecond(port, path, body));
      }
    }
    const echo = median(rounds[0] ?? []);
    console.log(`\nworkerd serve, ${CONNECTIONS} connections, ${(body.length / 1000).toFixed(1)} KB bodies\n`);
    for (const [position, { name }] of routes.entries()) {
      const own = rounds[position] ?? [];
      const share = `${((100 * median(own)) / echo).toFixed(0)}%`.padStart(5);
      const noise = `±${((50 * (Math.max(...own) - Math.min(...own))) / median(own)).toFixed(0)}%`;
      console.log(`${name.padEnd(32)} ${share}  (${median(own).toFixed(0)} requests/s, ${noise})`);
    }
  } finally {
    if (server?.pid !== undefined) process.kill(-server.pid, 'SIGKILL');
    agent.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
