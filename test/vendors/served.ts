/** Servers that the vendors' clients call: one with the lexical judge, and one whose judge is down. Both need a key. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killServers, startServe } from '../e2e/serve-process.ts';
import { FAKE_KEY, FAKE_MODEL, type FakeBackend, startFakeBackend } from '../llm/fake-backend.ts';

export const KEY = 'key-of-the-vendors-clients';

const API_KEYS = JSON.stringify({
  client: { sha256: createHash('sha256').update(KEY).digest('hex'), scopes: ['score'] },
});

const folders: string[] = [];
let model: FakeBackend | null = null;

/** @param settings as NAME=value. */
async function start(settings: readonly string[]): Promise<string> {
  const state = mkdtempSync(join(tmpdir(), 'citeward-vendors-'));
  folders.push(state);
  const variables = [`API_KEYS=${API_KEYS}`, ...settings].flatMap((variable) => ['--var', variable]);
  const { url } = await startServe('--state', state, ...variables);
  return url.replace(/\/$/, '');
}

/** Nothing listens on the discard port. */
const DOWN = { name: 'down', kind: 'vllm', base_url: 'http://127.0.0.1:9/v1', model: 'm', slots: 1 };

/** @returns the origins. The working one has the judge `gpt-5`, beside the lexical one, which answers by default. */
export async function startServers(): Promise<{ readonly working: string; readonly broken: string }> {
  model = await startFakeBackend();
  const up = { name: 'gpt-5', base_url: `${model.url}/v1`, model: FAKE_MODEL, api_key: FAKE_KEY };
  const backends = (one: object, default_judge: string | null) =>
    `BACKENDS=${JSON.stringify({ backends: [{ ...DOWN, context_tokens: 32_768, ...one }], default_judge })}`;
  const [working, broken] = await Promise.all([
    start(['ALLOW_LEXICAL_JUDGE=true', backends(up, null)]),
    start([backends({}, 'down')]),
  ]);
  return { working, broken };
}

export async function endServers(): Promise<void> {
  killServers();
  await model?.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
