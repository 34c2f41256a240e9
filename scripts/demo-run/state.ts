/** Where the demo run's data stays between its starts, and the key that signs there. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** From the root of the project; git does not see it. */
export const STATE = '.citeward/demo-run';

export type DemoState = {
  /** What wrangler keeps: KV, D1, R2, objects. */
  readonly directory: string;
  /** `NAME=value` lines: ISSUER_KEY. */
  readonly variablesFile: string;
};

/** Makes what is not there yet. The key is made once, so that what it signed stays known. */
export async function demoState(): Promise<DemoState> {
  const root = resolve(import.meta.dirname, '../..', STATE);
  const state = { directory: join(root, 'worker'), variablesFile: join(root, 'worker.vars') };
  await mkdir(state.directory, { recursive: true });
  if (!existsSync(state.variablesFile)) {
    await writeFile(state.variablesFile, `ISSUER_KEY=${await newIssuerKey()}\n`, { mode: 0o600 });
  }
  return state;
}

/** An Ed25519 key as PKCS #8 in base64. */
export async function newIssuerKey(): Promise<string> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  return Buffer.from(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).toString('base64');
}
