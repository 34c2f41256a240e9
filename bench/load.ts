/**
 * What the benchmarks of the Worker share: the built bundle, requests over a fixed number of connections, and how many
 * of them a server answers in a second.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { ensureDashboard } from '../scripts/build-dashboard.ts';

const ROUND_MS = 1_500;

/** The root of the repository. */
export const root = resolve(import.meta.dirname, '..');

/** Bundles the Worker as a deployment does. Returns the name of the module in `outdir`. */
export async function buildBundle(outdir: string): Promise<string> {
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

/** A port of this machine that no server uses. */
export function freePort(): Promise<number> {
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

/** A route under load. Every reply must be a 200. */
export type LoadedRoute = {
  readonly port: number;
  readonly path: string;
  /** The body of the n-th request, from 0. */
  readonly body: (n: number) => string;
};

/** Sends requests over a fixed number of connections, each as soon as the reply before it has arrived. */
export class Load {
  readonly #agent: Agent;
  readonly #connections: number;
  #sent = 0;

  constructor(connections: number) {
    this.#connections = connections;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Retries until the route answers 200. @throws Error if it does not within 15 seconds. */
  async waitUntilUp(route: LoadedRoute): Promise<void> {
    const deadline = performance.now() + 15_000;
    for (;;) {
      try {
        await this.#post(route);
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await new Promise((wake) => setTimeout(wake, 100));
      }
    }
  }

  /** Measures one round. @throws Error if a reply is not a 200. */
  async requestsPerSecond(route: LoadedRoute): Promise<number> {
    const started = performance.now();
    let finished = 0;
    await Promise.all(
      Array.from({ length: this.#connections }, async () => {
        while (performance.now() - started < ROUND_MS) {
          await this.#post(route);
          finished++;
        }
      }),
    );
    return (finished * 1000) / (performance.now() - started);
  }

  close(): void {
    this.#agent.destroy();
  }

  #post({ port, path, body }: LoadedRoute): Promise<void> {
    const text = body(this.#sent++);
    return new Promise((done, fail) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const options = { port, path, method: 'POST', agent: this.#agent, host: '127.0.0.1', headers };
      const outgoing = request(options, (response) => {
        response.resume();
        response.on('end', () => {
          if (response.statusCode === 200) done();
          else fail(new Error(`${path} answered ${response.statusCode}`));
        });
        response.on('error', fail);
      });
      outgoing.on('error', fail);
      outgoing.end(text);
    });
  }
}

export function median(values: readonly number[]): number {
  const value = [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
  if (value === undefined) throw new RangeError('median of nothing');
  return value;
}

/** Half the range of the rounds, relative to their median, as text: the noise of this run. */
export function noiseOf(values: readonly number[]): string {
  return `±${((50 * (Math.max(...values) - Math.min(...values))) / median(values)).toFixed(0)}%`;
}
