/**
 * Starts a real LLM server for a test: llama-server with the tiny random model, on a free port, in about 0.1 s. The
 * first call on a machine builds the server, which takes minutes: give the hook a timeout of `LLM_BUILD_TIMEOUT_MS`.
 * Its answers are noise; tests observe the server's behaviour.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureLlmServer } from './build-server.ts';
import { commandPath } from './build-tools.ts';
import type { ServerFiles } from './cache.ts';
import { TINY_CONTEXT_TOKENS, tinyModel } from './tiny-model.ts';

export const LLM_BUILD_TIMEOUT_MS = 30 * 60_000;

export type LlmServerOptions = {
  /** `tools` writes tool calls for requests with `tools`; use `text`, the default, for all other tests. */
  readonly kind?: 'text' | 'tools';
  /** Seed of the weights; each seed is another model. Default 1. */
  readonly seed?: number;
  readonly key?: string;
  /** The served model name. llama-server echoes it and accepts any name in requests. */
  readonly model?: string;
  /** Concurrent requests; further ones are queued. Default 8. */
  readonly slots?: number;
  /** Context of one slot in tokens (= bytes). Default 32,768. */
  readonly contextTokens?: number;
  /** GBNF grammar for requests without a response format. Default: none. */
  readonly grammar?: string;
  /** Port, for a restart under the same URL. Default: a free port. */
  readonly port?: number;
};

export type LlmServer = {
  /** Base URL without a trailing slash and without `/v1`. */
  readonly url: string;
  readonly port: number;
  readonly key: string;
  readonly model: string;
  readonly slots: number;
  readonly pid: number;
  /** The output of the server so far. */
  log(): Promise<string>;
  /** Stops the server gracefully and removes its files. Idempotent, also after `kill`. */
  stop(): Promise<void>;
  /** Sends SIGKILL, like an out-of-memory kill. Resolves when the process has ended. */
  kill(): Promise<void>;
};

/** The server failed to start; `log` is its output. */
export class LlmServerError extends Error {
  readonly log: string;

  constructor(message: string, log: string) {
    super(log === '' ? message : `${message}\n${log.split('\n').slice(-20).join('\n')}`);
    this.name = 'LlmServerError';
    this.log = log;
  }
}

type Launch = Required<LlmServerOptions> & { readonly files: ServerFiles; readonly modelFile: string };

/** Starts a server and waits until it is healthy. @throws LlmServerError, or BuildStepError if it cannot be built. */
export async function startLlmServer(options: LlmServerOptions = {}): Promise<LlmServer> {
  const files = await ensureLlmServer();
  const port = await portToUse(options.port);
  const directory = await mkdtemp(join(tmpdir(), 'citeward-llm-'));
  const launch: Launch = {
    kind: options.kind ?? 'text',
    seed: options.seed ?? 1,
    key: options.key ?? 'sk-test',
    model: options.model ?? 'tiny-judge',
    slots: options.slots ?? 8,
    contextTokens: options.contextTokens ?? TINY_CONTEXT_TOKENS,
    grammar: options.grammar ?? '',
    port,
    files,
    modelFile: join(directory, 'model.gguf'),
  };
  await writeFile(launch.modelFile, tinyModel(launch));
  const logFile = join(directory, 'server.log');
  const child = spawnServer(launch, logFile);
  const ended = new Promise<void>((done) => {
    child.once('close', () => done());
  });
  const killOnExit = (): void => {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  process.on('exit', killOnExit);

  const log = (): Promise<string> => readFile(logFile, 'utf8');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      child.kill('SIGTERM');
      if (!(await endsWithin(ended, TERM_MS))) await kill();
      process.off('exit', killOnExit);
      await rm(directory, { recursive: true, force: true });
    })();
    return stopping;
  };
  const url = `http://127.0.0.1:${launch.port}`;
  const failure = await waitUntilHealthy(url, child);
  if (failure !== null || child.pid === undefined) {
    const said = await log();
    await stop();
    throw new LlmServerError(`llama-server ${failure ?? 'has no process id'}`, said);
  }
  const { key, model, slots } = launch;
  return { url, port, key, model, slots, pid: child.pid, log, stop, kill };
}

function spawnServer(launch: Launch, logFile: string): ChildProcess {
  const args = [
    ...['--model', launch.modelFile, '--alias', launch.model, '--api-key', launch.key],
    ...['--host', '127.0.0.1', '--port', String(launch.port), '--no-ui', '--metrics', '--slots', '--offline'],
    ...['--parallel', String(launch.slots), '--ctx-size', String(launch.slots * launch.contextTokens)],
    // More connections than slots; otherwise queued requests block /health and /metrics.
    ...['--threads-http', '64'],
    // One thread: several threads spin-wait for each other, which is up to 20 times slower beside a busy test runner.
    // No flash attention: it is three times slower here at a few thousand tokens of context.
    ...['--threads', '1', '--flash-attn', 'off'],
    ...(launch.grammar === '' ? [] : ['--grammar', launch.grammar]),
    ...(launch.kind === 'tools' ? ['--jinja', '--chat-template-file', launch.files.toolTemplate] : []),
  ];
  // The kernel's parent-death signal also works if the test runner is killed, unlike an exit handler.
  const setpriv = commandPath('setpriv');
  const [command, prefix] =
    setpriv === null ? [launch.files.binary, []] : [setpriv, ['--pdeathsig', 'KILL', launch.files.binary]];
  const log = openSync(logFile, 'a');
  try {
    // A clean environment: LLAMA_ARG_* variables of the caller would change the server.
    return spawn(command, [...prefix, ...args], { stdio: ['ignore', log, log], env: { PATH: process.env['PATH'] } });
  } finally {
    closeSync(log);
  }
}

/**
 * Returns the requested port, or any free port. Checks that nothing listens there: llama-server would share a port in
 * use (SO_REUSEPORT), and the other process would answer its requests.
 */
function portToUse(asked: number | undefined): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer();
    probe.once('error', (error) => failed(new LlmServerError(`port ${asked}: ${error.message}`, '')));
    probe.listen(asked ?? 0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (typeof address === 'object' && address !== null) found(address.port);
        else failed(new LlmServerError('the probe for a free port has no port', ''));
      });
    });
  });
}

const START_MS = 30_000;
const TERM_MS = 5_000;
const POLL_MS = 25;

/** Waits until the server is healthy. @returns `null`, or the reason why it failed. */
async function waitUntilHealthy(url: string, child: ChildProcess): Promise<string | null> {
  let spawnError: Error | null = null;
  child.once('error', (error) => {
    spawnError = error;
  });
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline) {
    if (spawnError !== null) return `could not be started: ${String(spawnError)}`;
    if (child.exitCode !== null) return `ended with exit code ${child.exitCode}`;
    if (child.signalCode !== null) return `was ended by ${child.signalCode}`;
    if (await isHealthy(url)) return null;
    await pause(POLL_MS);
  }
  return `was not healthy within ${START_MS / 1000} s`;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    // Nothing listens yet. The caller's deadline ends the polling.
    return false;
  }
}

/** Whether the process ended within the given milliseconds. */
async function endsWithin(ended: Promise<void>, ms: number): Promise<boolean> {
  return Promise.race([ended.then(() => true), pause(ms, false, { ref: false })]);
}
