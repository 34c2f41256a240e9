/** `npm run backend:check` learns the settings of a server that refuses what it does not know. */
import { expect, it } from 'vitest';
import { checkParameters, learnParameters } from '../../../gpu-backend/check/checks/parameters.ts';
import { readBackends } from '../../../service/backends/settings.ts';
import { startStrictServer, type VENDORS } from '../../contract/strict-servers.ts';

async function withServer<T>(vendor: keyof typeof VENDORS, work: (origin: string) => Promise<T>): Promise<T> {
  const server = await startStrictServer(vendor);
  try {
    return await work(server.origin);
  } finally {
    server.stop();
  }
}

function targetOf(url: string) {
  return { url, key: null, headers: {}, timeout_ms: 5_000 };
}

it.each([
  ['vllm', { dialect: 'vllm', refuses: [] }],
  ['openai', { dialect: 'openai', refuses: [] }],
  ['openai-reasoning', { dialect: 'openai', refuses: ['temperature', 'top_p'] }],
  ['llama.cpp', { dialect: 'llama.cpp', refuses: [] }],
  ['ollama', { dialect: 'ollama', refuses: [] }],
  ['deepseek', { dialect: 'deepseek', refuses: [] }],
] as const)('of %s', async (vendor, settings) => {
  const learned = await withServer(vendor, (url) => learnParameters({ target: targetOf(url), model: 'm' }));
  expect(learned.settings).toEqual(settings);
});

it('and prints an entry of BACKENDS that the Worker takes', async () => {
  const found = await withServer('openai-reasoning', (url) =>
    checkParameters({
      target: targetOf(url),
      model: 'm',
      min_context_tokens: 16_384,
      nonce: 'n',
      metrics: async () => null,
    }),
  );
  expect(found).toMatchObject({ id: 'parameters', outcome: 'pass' });
  const entry: object = JSON.parse(found.saw.slice(found.saw.indexOf('{')));
  const text = JSON.stringify({ backends: [{ name: 'learned', ...entry }], default_judge: 'learned' });
  const read = readBackends(text, { secret: () => undefined, isBound: () => false });
  expect(read).toMatchObject({ ok: true, value: { judges: [{ name: 'learned' }] } });
});
