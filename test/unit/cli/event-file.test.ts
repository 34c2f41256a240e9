/** The event file of TensorBoard: its checksums, its records, and what is left out of it. */
import { describe, expect, test } from 'vitest';
import { crc32c, figuresRecord, firstRecord } from '../../../cli/commands/runs/event-file.ts';
import { figuresOf } from '../../../cli/commands/runs/figures.ts';
import type { RunStep } from '../../../src/runs/summary.ts';

const STEP: RunStep = {
  step: 300,
  groups: 2,
  rollouts: 16,
  scored: 15,
  reward: { mean: 6.5, min: 0, max: 9, std: null },
  components: { rubric: { rollouts: 15, mean: 0.75 }, citation: { rollouts: 0, mean: null } },
  spread: { groups: 2, mean_std: 0.5 },
  degenerate: { groups: 0, share: 0, reasons: {} },
  unscored: { judge_timeout: 1 },
  judge_failures: 1,
  judgments: { had: 32, cached: 8, hit_rate: 0.25 },
  inferred: 0,
  claims: { rollouts: 15, mean: 4.5 },
  citations: { rollouts: 0, mean: null },
  lengths: { chars: { rollouts: 16, mean: 900 }, tokens: { rollouts: 0, mean: null } },
  findings: { rollouts: 16, reasons: { citation_id_unknown: 4 }, shares: { citation_id_unknown: 0.125 } },
  criteria: { positive_1: { rollouts: 15, pass_rate: 0.6 } },
};

describe('an event file', () => {
  test('has checksums of CRC-32C (the check value of its definition, and RFC 3720, B.4)', () => {
    expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  });

  test('begins with the record that TensorFlow writes', () => {
    // tf.summary.create_file_writer's first record, with the wall time 0.
    expect(Buffer.from(firstRecord(0)).subarray(12, -4).toString('latin1')).toBe(
      `\x09${'\0'.repeat(8)}\x1a\x0dbrain.Event:2`,
    );
  });

  test('holds the figures that a step has; one that it does not have is no 0', () => {
    const tags = new Map(figuresOf(STEP));
    expect(tags.get('reward/mean')).toBe(6.5);
    expect(tags.get('component/rubric')).toBe(0.75);
    expect(tags.get('rollout/unscored')).toBe(1);
    expect(tags.get('answer/claims')).toBe(4.5);
    expect(tags.get('finding/citation_id_unknown')).toBe(0.25);
    expect(tags.get('criterion/positive_1')).toBe(0.6);
    expect([...tags.keys()]).not.toContain('answer/tokens');
    expect([...tags.keys()]).not.toContain('reward/std');
    expect([...tags.keys()]).not.toContain('component/citation');
  });

  test('encodes step, tag and value', () => {
    const record = Buffer.from(figuresRecord(1, 300, [['reward/mean', 6.5]]));
    const length = Number(record.readBigUInt64LE(0));
    expect(record.byteLength).toBe(8 + 4 + length + 4);
    const data = record.subarray(12, 12 + length);
    expect(data.readDoubleLE(1)).toBe(1);
    // Field 2 as a varint of two bytes: 300 = 0b10_0101100.
    expect([...data.subarray(9, 12)]).toEqual([0x10, 0xac, 0x02]);
    expect(data.subarray(-5).readFloatLE(1)).toBe(6.5);
    expect(data.toString('latin1')).toContain('reward/mean');
  });
});
