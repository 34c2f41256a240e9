/**
 * `npm run bench`: throughput of `/v1/verify` under plain `workerd serve`, relative to a Worker that only
 * parses and echoes the same JSON. `wrangler dev` is about ten times slower than workerd and would dominate the
 * measurement. Targets: at least 60% of the echo's requests per second without evidence, 40% with lexical evidence.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildBundle, freePort, Load, median, noiseOf, root } from './load.ts';
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
    const rounds = routes.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [position, route] of routes.entries()) {
        rounds[position]?.push(await load.requestsPerSecond(route));
      }
    }
    const echo = median(rounds[0] ?? []);
    console.log(`\nworkerd serve, ${CONNECTIONS} connections, ${(text.length / 1000).toFixed(1)} KB bodies\n`);
    for (const [position, { name }] of routes.entries()) {
      const own = rounds[position] ?? [];
      const share = `${((100 * median(own)) / echo).toFixed(0)}%`.padStart(5);
      console.log(`${name.padEnd(32)} ${share}  (${median(own).toFixed(0)} requests/s, ${noiseOf(own)})`);
    }
  } finally {
    if (server?.pid !== undefined) process.kill(-server.pid, 'SIGKILL');
    load.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
