/**
 * `npm run bench:ledger-object`: what one `RunLedger` object takes when rollouts arrive one by one: another Worker in
 * the same workerd calls `record` with one sample at a time, with 1, 8, 64 and 256 calls in flight, in groups of 8 whose
 * samples arrive one after another. Scoring is not part of it; the call, the write to disk, and sealing are. Prints calls
 * per second and the CPU time of a call.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { LEDGER_MESSAGE_VERSION, type NewEntry } from '../functions/ledger/ledger-messages.ts';
import { buildBundle, freePort, median } from './load.ts';
import { childrenOf, cpuOf } from './local-worker.ts';

const IN_FLIGHT = [1, 8, 64, 256] as const;
const ROUNDS = 4;
const ROUND_MS = 3_000;
const GROUP = 8;
/** Packed bytes of one rollout with 13 claims: its row, and its report without text. */
const [ROW_BYTES, REPORT_BYTES] = [900, 2_400] as const;

const ENTRY: NewEntry = {
  sample: '',
  content: '',
  attempt: null,
  lacking: 0,
  line: 0,
  inferred: false,
  reward: 0.625,
  reason: null,
  components: { rubric: 0.75, citation: 0.5, format: 1 },
  judgments: 2,
  cached: 2,
  counts: {
    claims: 13,
    citations: 18,
    chars: 2_900,
    tokens: null,
    findings: { not_supported: 2 },
    criteria: 'p+p+p-n+',
  },
};

/** Calls the object until the time is over, and counts. */
const CALLER = `
const entry = ${JSON.stringify(ENTRY)};
const bytes = (length) => Uint8Array.from({ length }, (_, n) => (n * 2654435761) >>> 24).buffer;
const [rows, details] = [bytes(${ROW_BYTES}), bytes(${REPORT_BYTES})];
export default {
  async fetch(request, env) {
    const { run, inFlight, ms } = await request.json();
    const object = env.RUN_LEDGER.getByName('default/' + run + '/life/0');
    const until = Date.now() + ms;
    const started = Date.now();
    let sent = 0;
    const work = async () => {
      while (Date.now() < until) {
        const n = sent++;
        const group = String(Math.floor(n / ${GROUP}));
        const entries = [{ ...entry, sample: String(n % ${GROUP}), content: String(n).padStart(64, '0') }];
        const record = { step: Math.floor(n / 1024), group, entries, at: Date.now(), rows, details,
          rows_key: null, details_key: null };
        const call = { v: ${LEDGER_MESSAGE_VERSION}, prefix: 'runs/default/' + run + '/life/', shard: 0, open: true,
          recipes: [], records: [record] };
        const answer = await object.record(call);
        if (answer.ok !== true || answer.value[0][0].status !== 'recorded') throw new Error(JSON.stringify(answer));
      }
    };
    await Promise.all(Array.from({ length: inFlight }, work));
    return Response.json({ calls: sent, ms: Date.now() - started });
  },
};`;

const folder = mkdtempSync(join(tmpdir(), 'citeward-bench-'));
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
  kvNamespaces: ['JUDGMENTS'],
  d1Databases: ['DB'],
  r2Buckets: ['FILES'],
  durableObjects: { RUN_LEDGER: { className: 'RunLedger', useSQLite: true } },
};
const caller = {
  name: 'caller',
  modules: true,
  script: CALLER,
  compatibilityDate,
  durableObjects: { RUN_LEDGER: { className: 'RunLedger', scriptName: 'citeward', useSQLite: true } },
  unsafeDirectSockets: [{ host: '127.0.0.1', port }],
};
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    workers: [citeward, caller],
    resourcePersistencePath: join(folder, 'state'),
    handleStructuredLogs: () => undefined,
  }),
);
try {
  await miniflare.ready;
  const pid = childrenOf(process.pid).find((child) => !before.has(child)) ?? null;
  const rounds = IN_FLIGHT.map((inFlight) => ({ inFlight, per_s: [] as number[], cpu_ms: [] as number[] }));
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { inFlight, per_s, cpu_ms } of rounds) {
      const used = cpuOf(pid);
      const body = JSON.stringify({ run: `${inFlight}-${round}`, inFlight, ms: ROUND_MS });
      const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
      if (!reply.ok) throw new Error(await reply.text());
      const { calls, ms }: { readonly calls: number; readonly ms: number } = JSON.parse(await reply.text());
      if (round === 0) continue;
      per_s.push((calls * 1_000) / ms);
      cpu_ms.push((cpuOf(pid) - used) / 1_000 / calls);
    }
  }
  for (const { inFlight, per_s, cpu_ms } of rounds) {
    const range = `${Math.min(...per_s).toFixed(0)} to ${Math.max(...per_s).toFixed(0)}`;
    console.log(
      `${String(inFlight).padStart(3)} in flight: ${median(per_s).toFixed(0)} rollouts/s (${range}), ` +
        `${median(cpu_ms).toFixed(2)} ms of CPU each; goal 1,000/s`,
    );
  }
} finally {
  await miniflare.dispose();
  rmSync(folder, { recursive: true, force: true });
}
