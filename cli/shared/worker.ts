/** Connects to the Worker that `--url` and `--key` name. */
import type { Client } from '../../clients/typescript/client.ts';
import { plainLine } from '../../src/text/foreign-line.ts';
import { RunError, UsageError } from './exit.ts';
import type { FlagDescription, Flags } from './flags.ts';
import { RunningJudges } from './running-judges.ts';

export const WAIT_FLAG: FlagDescription = {
  name: 'wait',
  kind: 'switch',
  help: 'If no Worker answers at --url, wait until one does.',
};

/** Flags of a command that always needs a Worker. */
export const WORKER_FLAGS: readonly FlagDescription[] = [
  { name: 'url', kind: 'text', value: 'URL', help: 'The Worker. Required.' },
  { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; safer in the environment, as CITEWARD_KEY.' },
  WAIT_FLAG,
];

/** Flags of a command that handles rows in this process or through a Worker. */
export const ROW_WORKER_FLAGS: readonly FlagDescription[] = [
  { name: 'url', kind: 'text', value: 'URL', help: 'Send the rows to the Worker at URL instead of working here.' },
  { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; safer in the environment, as CITEWARD_KEY.' },
  WAIT_FLAG,
  {
    name: 'concurrency',
    kind: 'text',
    value: 'N',
    help: 'Rows at the same time (default 8 with a Worker or a model, else 1).',
  },
];

export const REMOTE_CONCURRENCY = 8;

export const CONCURRENCY_RANGE = { min: 1, max: 256 } as const;

/**
 * Connects to the Worker of `--url`.
 * @param onRetry receives a text for people before each retry, and while a judge is slow.
 * @param missing the error if there is no `--url`.
 */
export async function connect(flags: Flags, onRetry: (text: string) => void, missing: UsageError): Promise<Client> {
  const client = await connectIfGiven(flags, onRetry);
  if (client === null) throw missing;
  return client;
}

/** Connects to the Worker of `--url` with another key. @throws UsageError without `--url`. */
export async function connectAs(flags: Flags, key: string, onRetry: (text: string) => void): Promise<Client> {
  const url = flags.text('url');
  if (url === null) throw new UsageError('expected --url URL');
  return connectTo(url, key, flags.isOn('wait'), onRetry);
}

/** Connects to the Worker of `--url`; `null` without it. @throws UsageError for `--key` or `--wait` without `--url`. */
export async function connectIfGiven(flags: Flags, onRetry: (text: string) => void): Promise<Client | null> {
  const url = flags.text('url');
  if (url !== null) return connectTo(url, keyOfWorker(flags), flags.isOn('wait'), onRetry);
  const given = flags.text('key') !== null ? 'key' : flags.isOn('wait') ? 'wait' : null;
  if (given !== null) throw new UsageError(`--${given} is for a Worker`, 'Give its --url too.');
  return null;
}

const WAIT_MS = 1_000;
/** How often a wait is said again. */
const REMARK_MS = 10_000;

/**
 * @param waits whether to wait until a Worker answers there.
 * @throws UsageError for a wrong URL, RunError if no Worker answers there.
 */
async function connectTo(
  urlText: string,
  key: string | null,
  waits: boolean,
  onRetry: (text: string) => void,
): Promise<Client> {
  const url = readUrl(urlText);
  const judges = new RunningJudges(onRetry);
  // Imported here, because most calls work without a Worker, and their first row would wait for it.
  const { createClient } = await import('../../clients/typescript/client.ts');
  const client = createClient({
    url,
    key,
    transport: {
      onRetry: ({ why, wait_ms }) => onRetry(`${why}; retrying in ${(wait_ms / 1000).toFixed(1)} s`),
      onJudgeRunning: (since_ms) => judges.begin(since_ms),
    },
  });
  let said = Number.NEGATIVE_INFINITY;
  let health = await client.health();
  while (waits && !health.ok && health.failure.kind === 'unreachable') {
    if (performance.now() - said >= REMARK_MS) {
      onRetry(`no Worker at ${url.origin} yet: ${plainLine(health.failure.why)}`);
      said = performance.now();
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    health = await client.health();
  }
  if (health.ok) return client;
  const { failure } = health;
  if (failure.kind === 'unreachable') {
    throw new RunError(
      `no Worker at ${url.origin}: ${plainLine(failure.why)}`,
      'Start one on this machine with: npm run dev. To wait for one: --wait',
    );
  }
  const got = failure.kind === 'problem' ? `${failure.status} ${failure.problem.reason}` : failure.detail;
  throw new RunError(
    `the server at ${url.href} is not a Citeward Worker: GET /healthz answered ${plainLine(got)}`,
    'Check --url: it is the address of the Worker, as npm run dev and npm run deploy print it.',
  );
}

/** The API key of a Worker: `--key`, or that of the environment; `null` = none. */
export function keyOfWorker(flags: Flags): string | null {
  return flags.text('key') ?? flags.variable('CITEWARD_KEY');
}

/** The address of the Worker, without the `/v1` of its routes. @throws UsageError */
export function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(
      `--url: expected http://… or https://…, got "${text}"`,
      'Example: --url http://127.0.0.1:8799',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--url must not contain a user or a password', 'Give the key with CITEWARD_KEY or --key.');
  }
  // The address of the API in other clients, such as OpenAI's.
  url.pathname = url.pathname.replace(/\/v1\/?$/u, '/');
  return url;
}
