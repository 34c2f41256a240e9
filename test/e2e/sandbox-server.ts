/** The development sandbox as a process of its own, as `gpu-backend/README.md` starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './processes.ts';

export const SANDBOX_KEY = 'sandbox-test-key';

export type SandboxServer = { readonly url: string; readonly stop: () => Promise<void> };

/** Starts it on a free port, with a key. */
export async function startSandbox(...options: readonly string[]): Promise<SandboxServer> {
  const child = spawn('python3', [resolve(root, 'gpu-backend/sandbox/server.py'), '--port', '0', ...options], {
    env: { ...process.env, SANDBOX_API_KEY: SANDBOX_KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close');
  const url = await Promise.race([urlOf(child), ended.then(() => null)]);
  if (url === null) throw new Error(`the sandbox did not start: ${said}`);
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function urlOf({ stdout }: ChildProcess): Promise<string | null> {
  if (stdout === null) return null;
  for await (const line of createInterface({ input: stdout })) {
    const url = /^listening on (?<url>http:\/\/\S+)$/u.exec(line)?.groups?.['url'];
    if (url !== undefined) return url;
  }
  return null;
}
