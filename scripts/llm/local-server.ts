/**
 * A real LLM server on this machine for the length of a test: llama-server with the tiny random model, on a free port, up
 * in about a tenth of a second once it is built. The first call on a machine builds it, which takes minutes: give the
 * hook that starts it `LLM_BUILD_TIMEOUT_MS`. Its answers are noise; what it shows is how a server behaves.
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
  /** `tools` answers `tools` requests with calls; it is the worse choice for everything else. Default `text`. */
  readonly kind?: 'text' | 'tools';
  /** Seed of the weights: another seed is another model. Default 1. */
  readonly seed?: number;
  readonly key?: string;
  /** The name it is served under; llama-server echoes it and does not check what is asked for. */
  readonly model?: string;
  /** Requests at a time; more of them wait. Default 8. */
  readonly slots?: number;
  /** Context of one slot. A token is a byte. Default 32,768. */
  readonly contextTokens?: number;
  /** GBNF that every reply follows where a request asks for no form of its own. Default: none. */
  readonly grammar?: string;
  /** For a restart under the same URL. Default: a free one. */
  readonly port?: number;
};

export type LlmServer = {
  /** Without a trailing slash and without `/v1`. */
  readonly url: string;
  readonly port: number;
  readonly key: string;
  readonly model: string;
  readonly slots: number;
  readonly pid: number;
  /** What the server wrote so far. */
  log(): Promise<string>;
  /** Ends it in order and removes its files. May be called again, also after `kill`. */
  stop(): Promise<void>;
  /** SIGKILL, as the kernel does when memory runs out. Resolves when the process is gone. */
  kill(): Promise<void>;
};

/** The server did not start; `log` is what it said. */
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
    // Room for callers that wait: by default as many connections as slots and a few, and /health and /metrics starve too.
    ...['--threads-http', '64'],
    // One thread: more of them spin while they wait for each other, and beside a busy test runner that costs up to 20 times
    // the time. Without flash attention, which is three times slower here at a few thousand tokens of context.
    ...['--threads', '1', '--flash-attn', 'off'],
    ...(launch.grammar === '' ? [] : ['--grammar', launch.grammar]),
    ...(launch.kind === 'tools' ? ['--jinja', '--chat-template-file', launch.files.toolTemplate] : []),
  ];
  // An exit handler does not run when a test runner is killed; the kernel's parent-death signal does.
  const setpriv = commandPath('setpriv');
  const [command, prefix] =
    setpriv === null ? [launch.files.binary, []] : [setpriv, ['--pdeathsig', 'KILL', launch.files.binary]];
  const log = openSync(logFile, 'a');
  try {
    // An environment of its own: LLAMA_ARG_* variables of the caller would change the server.
    return spawn(command, [...prefix, ...args], { stdio: ['ignore', log, log], env: { PATH: process.env['PATH'] } });
  } finally {
    closeSync(log);
  }
}

/**
 * A port that nothing listens on: the one that was asked for, or any. Looked at here because llama-server shares a port that
 * is taken (SO_REUSEPORT) instead of refusing it, and its neighbour would then answer in its place.
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

/** `null` once it is healthy, or why it will not be. */
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
    // Nothing listens yet. The deadline in the caller ends the waiting.
    return false;
  }
}

/** Whether it ended within so many milliseconds. */
async function endsWithin(ended: Promise<void>, ms: number): Promise<boolean> {
  return Promise.race([ended.then(() => true), pause(ms, false, { ref: false })]);
}
