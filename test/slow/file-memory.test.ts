/**
 * The memory that a file takes on its way into the Worker: ten times the file, about the same peak. Peaks are those of
 * the workerd processes of a local Worker (VmHWM; Linux only), the simulated R2 among them, which itself keeps some 60
 * MB. On the way out there is nothing to measure: of objects in parts, the simulated R2 (miniflare 5) gathers what it
 * reads.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';

let worker: LocalWorker;
beforeAll(async () => {
  worker = await startLocalWorker({ variables: { ALLOW_ANONYMOUS: 'true' }, deadline_ms: 60_000 });
});
afterAll(() => worker?.stop());

/** Process ids of the workerds in the Worker's process group. */
function workerds(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [, name, fields = ''] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      return name === 'workerd' && fields.split(' ')[2] === String(worker.group);
    } catch {
      // It has ended since the listing.
      return false;
    }
  });
}

/** The highest resident memory of each process so far, together, in MB. */
function peakMb(): number {
  const peaks = workerds().map((pid) => {
    const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    if (kilobytes === undefined) throw new Error(`no VmHWM of ${pid}`);
    return Number(kilobytes) / 1024;
  });
  expect(peaks.length).toBeGreaterThan(0);
  return peaks.reduce((sum, peak) => sum + peak, 0);
}

const CHUNK = new TextEncoder().encode(`{"custom_id":"a","body":{"text":"${'x'.repeat(967)}"}}\n`.repeat(64));

/** A form whose file has so many MB, made as it is sent. */
function form(megabytes: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let left = megabytes * 1_000_000;
  let begun = false;
  return new ReadableStream({
    pull(controller) {
      if (!begun) {
        const head = 'content-disposition: form-data; name=file; filename=rows.jsonl';
        controller.enqueue(encoder.encode(`--b\r\n${head}\r\n\r\n`));
        begun = true;
      } else if (left > 0) {
        controller.enqueue(CHUNK.slice(0, left));
        left -= CHUNK.length;
      } else {
        controller.enqueue(
          encoder.encode('\r\n--b\r\ncontent-disposition: form-data; name=purpose\r\n\r\nbatch\r\n--b--'),
        );
        controller.close();
      }
    },
  });
}

async function upload(megabytes: number): Promise<void> {
  // Node's fetch wants `duplex` with a stream; the types do not have it yet.
  const init: RequestInit & { readonly duplex: 'half' } = {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: form(megabytes),
    duplex: 'half',
  };
  const reply = await fetch(`${worker.url}/v1/files`, init);
  const file: { bytes: number } = JSON.parse(await reply.text());
  expect([reply.status, file.bytes]).toEqual([200, megabytes * 1_000_000]);
}

describe.runIf(process.platform === 'linux')('the memory of a Worker', () => {
  it('grows by a file of 200 MB at most half as much again as by files of 20 MB', async () => {
    await upload(1);
    const before = peakMb();
    // Several runs, because the allocator's peak needs some runs to settle.
    for (let i = 0; i < 3; i++) await upload(20);
    const small = peakMb();
    await upload(200);
    const large = peakMb();
    const mb = Object.entries({ before, small, large }).map(([name, peak]) => [name, Math.round(peak)]);
    console.log(JSON.stringify({ peak_mb: Object.fromEntries(mb), processes: workerds().length }));
    expect((large - before) / (small - before)).toBeLessThanOrEqual(1.5);
  });
});
