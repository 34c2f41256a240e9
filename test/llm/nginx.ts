/**
 * Runs the proxy of gpu-backend as a process: Debian's nginx with our template, filled in like the container's image
 * does.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureCommand } from './debian.ts';

const TEMPLATE = resolve(import.meta.dirname, '../../gpu-backend/proxy/llm.conf.template');
const START_MS = 5_000;

export type Nginx = {
  /** Names of the request bodies that nginx has put into files. */
  bodyFiles(): Promise<readonly string[]>;
  accessLog(): Promise<string>;
  stop(): Promise<void>;
};

/** Starts nginx in the foreground, in a folder of its own. `variables` replace the template's ${...}. */
export async function startNginx(
  ports: readonly number[],
  variables: Readonly<Record<string, string>>,
): Promise<Nginx> {
  const nginx = await ensureCommand('nginx', 'nginx');
  const folder = await mkdtemp(join(tmpdir(), 'citeward-nginx-'));
  const accessLog = join(folder, 'access.log');
  const site = fillIn(await readFile(TEMPLATE, 'utf8'), { ...variables, PROXY_ACCESS_LOG: accessLog });
  await writeFile(join(folder, 'site.conf'), site);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  );
  await writeFile(
    join(folder, 'nginx.conf'),
    [
      'daemon off; pid nginx.pid; worker_processes 1;',
      'events {}',
      `http { ${temporary.join(' ')} include site.conf; }`,
    ].join('\n'),
  );
  const child = spawn(nginx, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const ended = new Promise<void>((done) => {
    child.once('close', () => done());
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = performance.now() + START_MS;
  while (!(await allListen(ports))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop();
      throw new Error(`nginx did not start: ${said}`);
    }
    await pause(20);
  }
  return {
    bodyFiles: () => readdir(join(folder, 'client_body')),
    accessLog: () => readFile(accessLog, 'utf8'),
    stop,
  };
}

/** Works like envsubst: replaces the given names and leaves nginx's own variables. */
function fillIn(template: string, variables: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$\{([A-Z_]+)\}/g, (_whole, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`the template uses ${name}, which is not given`);
    return value;
  });
}

async function allListen(ports: readonly number[]): Promise<boolean> {
  const answers = await Promise.all(
    ports.map(
      (port) =>
        new Promise<boolean>((done) => {
          const socket = connect(port, '127.0.0.1', () => {
            socket.destroy();
            done(true);
          });
          socket.once('error', () => done(false));
        }),
    ),
  );
  return answers.every(Boolean);
}
