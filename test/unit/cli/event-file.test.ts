/** The event file of TensorBoard: its checksums, its records, and what is left out of it. */
import { describe, expect, test } from 'vitest';
import { crc32c, figuresRecord, firstRecord } from '../../../cli/commands/runs/event-file.ts';
import { figuresOf } from '../../../cli/commands/runs/figures.ts';
import { STEP } from './recorded-step.ts';

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
