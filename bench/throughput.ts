/**
 * `npm run bench`: throughput of `/v1/verify` under plain `workerd serve`, relative to a Worker that only
 * parses and echoes the same JSON. `wrangler dev` is about ten times slower than workerd and would dominate the
 * measurement. Targets: at least 62% of the echo without evidence, 40% with lexical evidence.
 *
 * By requests per second the share depends on the machine: where cores are idle, the client that sends the requests is
 * slower than the echo, and hides what the Worker takes. By CPU time of a request, the share is that of the work itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildBundle, freePort, Load, type LoadedRoute, median, noiseOf, root } from './load.ts';
import { childrenOf, cpuOf } from './local-worker.ts';
import { typicalRollout } from './typical-rollout.ts';

const ROUNDS = 5;
const CONNECTIONS = 4;

const ECHO_WORKER = 'export default { async fetch(request) { return Response.json(await request.json()); } };';

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
  compatibilityFlags = ["global_fetch_strictly_public", "enable_request_signal", "nodejs_als"],
);
const echo :Workerd.Worker = (
  modules = [ (name = "echo.js", esModule = embed "echo.js") ],
  compatibilityDate = "2026-10-20",
);
`;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'citeward-bench-'));
  const load = new Load(CONNECTIONS);
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
    const text = JSON.stringify({ response, tool_output });
    const body = (): string => text;
    const routes = [
      { name: 'parse and echo the same JSON', port: ports.echo, path: '/', body },
      { name: '/v1/verify', port: ports.citeward, path: '/v1/verify', body },
      { name: '/v1/verify?evidence=lexical', port: ports.citeward, path: '/v1/verify?evidence=lexical', body },
    ];
    for (const route of routes) {
      await load.waitUntilUp(route);
      await load.requestsPerSecond(route);
    }
    const binary = childrenOf(server.pid ?? 0)[0] ?? null;
    const rows = routes.map((route) => ({ route, perSecond: [] as number[], cpuUs: [] as number[] }));
    for (let round = 0; round < ROUNDS; round++) {
      for (const row of rows) await measure(row, load, binary);
    }
    const [echo] = rows;
    if (echo === undefined) throw new Error('no route is measured');
    console.log(`\nworkerd serve, ${CONNECTIONS} connections, ${(text.length / 1000).toFixed(1)} KB bodies\n`);
    for (const { route, perSecond, cpuUs } of rows) {
      const share = percent(median(perSecond) / median(echo.perSecond));
      const byCpu = percent(median(echo.cpuUs) / median(cpuUs));
      const speed = `${median(perSecond).toFixed(0)} requests/s, ${noiseOf(perSecond)}`;
      console.log(
        `${route.name.padEnd(32)} ${share}, by CPU ${byCpu}  (${speed}, ${median(cpuUs).toFixed(0)} µs of CPU)`,
      );
    }
  } finally {
    if (server?.pid !== undefined) process.kill(-server.pid, 'SIGKILL');
    load.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Row = { readonly perSecond: number[]; readonly cpuUs: number[] };

/** Adds one round: the requests per second, and the CPU time of one. @param server the process of workerd. */
async function measure(row: Row & { readonly route: LoadedRoute }, load: Load, server: number | null): Promise<void> {
  const used = cpuOf(server);
  const started = performance.now();
  const perSecond = await load.requestsPerSecond(row.route);
  const requests = (perSecond * (performance.now() - started)) / 1000;
  row.perSecond.push(perSecond);
  row.cpuUs.push((cpuOf(server) - used) / requests);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)}%`.padStart(5);
}

await main();
