/** The folder that keeps the demo run's data between starts, and the key that signs its judgments and receipts. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Relative to the root of the project; ignored by git. */
export const STATE = '.citeward/demo-run';

export type DemoState = {
  /** The data of the Worker: KV, D1, R2, Durable Objects. */
  readonly directory: string;
  /** A file with the line `ISSUER_KEY=…`. */
  readonly variablesFile: string;
};

/** Creates the folder and the key if they are missing. The key stays the same, so that old signatures stay valid. */
export async function demoState(): Promise<DemoState> {
  const root = resolve(import.meta.dirname, '../..', STATE);
  const state = { directory: join(root, 'worker'), variablesFile: join(root, 'worker.vars') };
  await mkdir(state.directory, { recursive: true });
  if (!existsSync(state.variablesFile)) {
    await writeFile(state.variablesFile, `ISSUER_KEY=${await newIssuerKey()}\n`, { mode: 0o600 });
  }
  return state;
}

/** Generates an Ed25519 key as PKCS #8 in base64. */
export async function newIssuerKey(): Promise<string> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  return Buffer.from(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).toString('base64');
}
