/** Starts the built bundle in workerd for the benchmarks, with miniflare's KV, D1, R2, queue and Durable Objects. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { buildBundle, freePort } from './load.ts';

const CLOCK_TICKS_PER_S = 100;

export type Server = { readonly port: number; readonly pid: number | null };

export type LocalWorker = Server & { readonly stop: () => Promise<void> };

/** The Durable Objects of wrangler.toml: binding, then class. */
const OBJECTS = {
  JUDGE_DESK: 'JudgeDesk',
  BATCH: 'Batch',
  DELIVERIES: 'Deliveries',
  RUN_LEDGER: 'RunLedger',
} as const;

type WorkerParts = {
  readonly bindings: Readonly<Record<string, string>>;
  /** A Worker beside this one, by the name of its binding. */
  readonly beside?: { readonly binding: string; readonly script: string };
  /** Where D1, R2 and the objects are stored; default: in memory. */
  readonly state?: string;
};

/** @param folder where the bundle is written. */
export async function startWorker(folder: string, { bindings, beside, state }: WorkerParts): Promise<LocalWorker> {
  const before = new Set(childrenOf(process.pid));
  const port = await freePort();
  const compatibilityDate = '2026-10-20';
  const citeward = {
    name: 'citeward',
    modules: true,
    scriptPath: join(folder, await buildBundle(folder)),
    modulesRoot: folder,
    compatibilityDate,
    compatibilityFlags: ['global_fetch_strictly_public', 'enable_request_signal'],
    bindings,
    kvNamespaces: ['JUDGMENTS'],
    d1Databases: ['DB'],
    r2Buckets: ['FILES'],
    queueProducers: { JOBS: 'jobs' },
    durableObjects: Object.fromEntries(
      Object.entries(OBJECTS).map(([binding, className]) => [binding, { className, useSQLite: true }]),
    ),
    ...(beside === undefined ? {} : { serviceBindings: { [beside.binding]: 'beside' } }),
    unsafeDirectSockets: [{ host: '127.0.0.1', port }],
  };
  const others =
    beside === undefined ? [] : [{ name: 'beside', modules: true, script: beside.script, compatibilityDate }];
  const persisted = state === undefined ? {} : { resourcePersistencePath: state };
  const logLinesAreDropped = { handleStructuredLogs: () => undefined };
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ workers: [citeward, ...others], ...persisted, ...logLinesAreDropped }),
  );
  await miniflare.ready;
  const pid = childrenOf(process.pid).find((child) => !before.has(child)) ?? null;
  return { port, pid, stop: () => miniflare.dispose() };
}

/** Child processes, by id; empty where there is no /proc. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
        .split(' ')
        .flatMap((id) => (id === '' ? [] : Number(id))),
    );
  } catch {
    return [];
  }
}

/** CPU time that a process has used, in microseconds; NaN where there is no /proc. */
export function cpuOf(pid: number | null): number {
  try {
    const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const fields = after.split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / CLOCK_TICKS_PER_S;
  } catch {
    return Number.NaN;
  }
}
