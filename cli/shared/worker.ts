/** `--url` and `--key`: a client that has found its Worker. */

import { type Client, createClient } from '../../clients/typescript/client.ts';
import type { TransportOptions } from '../../clients/typescript/transport.ts';
import { RunError, UsageError } from './exit.ts';
import type { FlagDescription } from './flags.ts';

export const REMOTE_FLAGS: readonly FlagDescription[] = [
  { name: 'url', kind: 'text', value: 'URL', help: 'Send the rows to the Worker at URL instead of working here.' },
  { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
  { name: 'concurrency', kind: 'text', value: 'N', help: 'Rows in hand at a time (default 8 with --url, else 1).' },
];

export const REMOTE_CONCURRENCY = 8;

export const CONCURRENCY_RANGE = { min: 1, max: 256 } as const;

/** Connects. @throws UsageError for a wrong URL, RunError if no Worker answers there. */
export async function connect(
  urlText: string,
  keyFlag: string | null,
  onRetry: TransportOptions['onRetry'],
): Promise<Client> {
  const url = readUrl(urlText);
  const client = createClient({ url, key: keyFlag ?? keyOfEnvironment(), transport: { onRetry } });
  const health = await client.health();
  if (health.ok) return client;
  const { failure } = health;
  if (failure.kind === 'unreachable') {
    throw new RunError(`no Worker at ${url.origin}: ${failure.why}`, 'Start one on this machine with: npm run dev');
  }
  const what = failure.kind === 'problem' ? `${failure.status} ${failure.problem.reason}` : failure.detail;
  throw new RunError(`what answers at ${url.href} is not a Citeward Worker: /healthz gave ${what}`);
}

function keyOfEnvironment(): string | null {
  const key = process.env['CITEWARD_KEY'];
  return key === undefined || key === '' ? null : key;
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(
      `--url: expected http://… or https://…, got "${text}"`,
      'Example: --url http://127.0.0.1:8799',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--url: no user or password in the URL', 'Give the key with CITEWARD_KEY or --key.');
  }
  return url;
}
