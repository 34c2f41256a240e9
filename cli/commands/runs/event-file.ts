/**
 * Writes the figures of a run's steps as a TensorBoard event file.
 *
 * Format: TFRecords (tensorflow/tensorflow 0d0ed1b, `core/lib/io/record_writer.h`) of `Event` messages
 * (tensorflow/tensorboard, `compat/proto/event.proto` and `summary.proto`): wall_time = 1, step = 2, file_version = 3,
 * summary = 5; a value of a summary has tag = 1 and simple_value = 2.
 */
import type { Figure } from './figures.ts';

/** The record that every event file begins with. @param time_s seconds since 1970. */
export function firstRecord(time_s: number): Uint8Array {
  return record(message(double(1, time_s), text(3, 'brain.Event:2')));
}

/** The record of a step's figures. @param time_s seconds since 1970. */
export function figuresRecord(time_s: number, step: number, figures: readonly Figure[]): Uint8Array {
  const values = figures.map(([tag, value]) => bytes(1, message(text(1, tag), float(2, value))));
  return record(message(double(1, time_s), whole(2, step), bytes(5, message(...values))));
}

const LENGTH_BYTES = 8;
const CHECKSUM_BYTES = 4;

/**
 * The record of a text, as Markdown, for the page Text. The plugin reads a tensor of strings (DT_STRING = 7) of one
 * dimension: metadata = 9 with plugin_data = 1 and its plugin_name = 1, tensor = 8 with dtype = 1, tensor_shape = 2
 * and string_val = 8 (tensorboard/plugins/text/metadata.py, compat/proto/tensor.proto).
 */
export function textRecord(time_s: number, step: number, tag: string, markdown: string): Uint8Array {
  const metadata = bytes(9, message(bytes(1, message(text(1, 'text')))));
  const shape = bytes(2, message(bytes(2, message(whole(1, 1)))));
  const tensor = bytes(8, message(whole(1, 7), shape, text(8, markdown)));
  const value = message(text(1, tag), metadata, tensor);
  return record(message(double(1, time_s), whole(2, step), bytes(5, message(bytes(1, value)))));
}

/** Length and data, each followed by its checksum. */
function record(data: Uint8Array): Uint8Array {
  const out = new Uint8Array(LENGTH_BYTES + CHECKSUM_BYTES + data.byteLength + CHECKSUM_BYTES);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, BigInt(data.byteLength), true);
  view.setUint32(LENGTH_BYTES, maskedChecksum(out.subarray(0, LENGTH_BYTES)), true);
  out.set(data, LENGTH_BYTES + CHECKSUM_BYTES);
  view.setUint32(out.byteLength - CHECKSUM_BYTES, maskedChecksum(data), true);
  return out;
}

/** TFRecord rotates and shifts a CRC, because a CRC over data that holds CRCs is weak. */
function maskedChecksum(data: Uint8Array): number {
  const crc = crc32c(data);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** CRC-32C (RFC 3720, appendix B.4); node:zlib has CRC-32 only. */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

const encoder = new TextEncoder();

// Fields of a Protocol Buffers message, by wire type.

const message = (...fields: readonly Uint8Array[]): Uint8Array => Buffer.concat(fields);

function field(number: number, wireType: 0 | 1 | 2 | 5, content: Uint8Array): Uint8Array {
  return Buffer.concat([varint((number << 3) | wireType), content]);
}

function whole(number: number, value: number): Uint8Array {
  return field(number, 0, varint(value));
}

function double(number: number, value: number): Uint8Array {
  const content = Buffer.alloc(8);
  content.writeDoubleLE(value);
  return field(number, 1, content);
}

function float(number: number, value: number): Uint8Array {
  const content = Buffer.alloc(4);
  content.writeFloatLE(value);
  return field(number, 5, content);
}

function bytes(number: number, content: Uint8Array): Uint8Array {
  return field(number, 2, Buffer.concat([varint(content.byteLength), content]));
}

function text(number: number, value: string): Uint8Array {
  return bytes(number, encoder.encode(value));
}

function varint(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  return Uint8Array.from([...out, rest]);
}
