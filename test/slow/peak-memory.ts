/** Reads how much memory a local Worker has taken. */
import { readdirSync, readFileSync } from 'node:fs';
import type { LocalWorker } from '../../scripts/local-worker.ts';

/** The highest resident memory of a Worker's workerds so far, together, in MB. Linux only. */
export function peakMbOf({ group }: LocalWorker): number {
  const peaks = readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const [, name, fields = ''] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      if (name !== 'workerd' || fields.split(' ')[2] !== String(group)) return [];
      return [Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024];
    } catch {
      // It has ended since the listing.
      return [];
    }
  });
  if (peaks.length === 0) throw new Error('peakMbOf: no workerd runs');
  return peaks.reduce((sum, peak) => sum + peak, 0);
}
