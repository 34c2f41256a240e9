/**
 * Kills a real Worker (SIGKILL, nothing is flushed) at a chosen operation of its stores. Builds of test/kill-workers
 * report to this process before each operation of R2, D1 or the queue begins, and after each write: between two reports
 * lie all states in which a step has written something and the next has not begun. Nothing depends on time.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bundleCiteward, bundleWorker, ensureServeFiles } from '../../scripts/build-serve.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { SERVE_FILES } from '../../serve/worker-description.ts';

export const VARIABLES = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true', RUN_SHARDS: '1' };
/** A guard against a start that hangs. */
const START_MS = 60_000;
const POLL_MS = 20;

/** `this`: the present sources. `next`: the same, but each message between isolates and objects has the next version. */
export type Version = 'this' | 'next';

/** Chooses points by their names: `before R2 put KEY #1` is the moment before that key is written for the first time. */
type Choice = (point: string) => boolean;

export class KillPoints {
  readonly #folder = mkdtempSync(join(tmpdir(), 'citeward-kills-'));
  readonly #server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
    request.on('end', async () => {
      const worker = await this.#started.promise;
      // A process that is killed gets no answer.
      if (this.#isKillPointNow(text)) await worker.kill().then(this.#killed.resolve);
      else response.end();
    });
  });
  #worker: LocalWorker | null = null;
  /** The stores of a Worker wait until it has started. */
  #started = Promise.withResolvers<LocalWorker>();
  #isWatched: Choice = () => false;
  #isKillPoint: Choice = () => false;
  #seen: string[] = [];
  #killed = Promise.withResolvers<void>();

  /** Builds both versions. */
  static async build(): Promise<KillPoints> {
    const points = new KillPoints();
    await new Promise<void>((resolve) => points.#server.listen(0, '127.0.0.1', resolve));
    const { port } = addressOf(points.#server.address());
    const files = await ensureServeFiles();
    const folder = points.#filesOf('this');
    cpSync(files, folder, { recursive: true });
    bundleCiteward(folder, 'test/kill-workers/citeward.ts', ['--no-minify']);
    const define = { KILL_POINTS_URL: JSON.stringify(`http://127.0.0.1:${port}/`) };
    await bundleWorker(folder, SERVE_FILES.stores, 'test/kill-workers/stores.ts', define);
    change(join(folder, SERVE_FILES.citeward), withSmallParts);
    change(join(folder, SERVE_FILES.stores), withSmallParts);
    cpSync(folder, points.#filesOf('next'), { recursive: true });
    change(join(points.#filesOf('next'), SERVE_FILES.citeward), withNextMessages);
    return points;
  }

  #filesOf(version: Version): string {
    return join(this.#folder, version);
  }

  /** Makes a folder for a state. @param from a state to copy, whose Worker has ended. */
  newState(from?: string): string {
    const state = mkdtempSync(join(this.#folder, 'state-'));
    if (from !== undefined) cpSync(from, state, { recursive: true });
    return state;
  }

  /** Starts a Worker on a state. */
  async start(version: Version, state: string): Promise<LocalWorker> {
    const started = Promise.withResolvers<LocalWorker>();
    this.#started = started;
    const files = this.#filesOf(version);
    this.#worker = await startLocalWorker({ variables: VARIABLES, deadline_ms: START_MS, state, files });
    started.resolve(this.#worker);
    return this.#worker;
  }

  /**
   * Notes the points that follow.
   *
   * @param isWatched which points count.
   * @param isKillPoint kills the Worker at the first point for which it holds. Default: never.
   */
  watch(isWatched: Choice, isKillPoint: Choice = () => false): void {
    this.#isWatched = isWatched;
    this.#isKillPoint = isKillPoint;
    this.#seen = [];
    this.#killed = Promise.withResolvers<void>();
  }

  /** The points since `watch`, in the order in which they came. Each is there once. */
  get seen(): readonly string[] {
    return [...this.#seen];
  }

  /** Waits until the points that were seen are all. */
  async until(isEnd: (seen: readonly string[]) => boolean): Promise<void> {
    while (!isEnd(this.#seen)) await pause(POLL_MS);
  }

  /** Resolves when the Worker has been killed. */
  get killed(): Promise<void> {
    return this.#killed.promise;
  }

  async close(): Promise<void> {
    await this.#worker?.kill();
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Notes a point. Returns whether the Worker is to be killed now. */
  #isKillPointNow(reported: string): boolean {
    const name = reported.replaceAll(UUID, '*');
    if (!this.#isWatched(name)) return false;
    // The same operation may come again.
    const times = this.#seen.filter((point) => point.startsWith(`${name} #`)).length;
    const point = `${name} #${times + 1}`;
    this.#seen.push(point);
    if (!this.#isKillPoint(point)) return false;
    this.#isKillPoint = () => false;
    return true;
  }
}

/** The points at which a kill leaves different states: nothing changes between two reads that follow each other. */
export function killPointsOf(seen: readonly string[]): string[] {
  return seen.filter((point, n) => !(isRead(point) && isRead(seen[n - 1] ?? '')));
}

function isRead(point: string): boolean {
  return point.startsWith('before R2 get');
}

function change(file: string, to: (text: string) => string): void {
  writeFileSync(file, to(readFileSync(file, 'utf8')));
}

/** Names that are drawn at random in each try. */
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu;

/** The bundle with the next version of each message. */
function withNextMessages(bundle: string): string {
  return changed(bundle, /^((?:var|let|const) \w+_MESSAGE_VERSION = )(\d+);$/gmu, KINDS_OF_MESSAGES, (_, start, v) => {
    return `${start}${Number(v) + 1};`;
  });
}

/** The bundle with parts of R2 uploads so small that a small file has several. */
function withSmallParts(bundle: string): string {
  const sizes = /^((?:var|let|const) (?:R2|MIN)_PART_BYTES = )[^;]+;$/gmu;
  return changed(bundle, sizes, 1, (_, start) => `${start}${PART_BYTES};`);
}

/** Desk, batch, ledger and webhook messages. */
const KINDS_OF_MESSAGES = 4;
const PART_BYTES = 300_000;

function changed(bundle: string, from: RegExp, times: number, to: (...found: string[]) => string): string {
  const found = bundle.match(from)?.length ?? 0;
  if (found !== times) throw new Error(`the bundle has ${from} ${found} times`);
  return bundle.replace(from, to);
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address;
}
