/**
 * Writes GGUF version 3, the file format of llama.cpp: metadata, tensor directory, aligned tensors. Supports what a
 * small random model needs: F32 tensors and six value types, all in memory. Source: ggml's specification, docs/gguf.md.
 */

const VERSION = 3;
const ALIGNMENT = 32;
const TENSOR_TYPE_F32 = 0;
const VALUE_TYPE = { int32: 5, uint32: 4, float32: 6, bool: 7, string: 8, array: 9 } as const;

export type MetadataValue =
  | { readonly type: 'uint32' | 'float32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly string[] }
  | { readonly type: 'int32s'; readonly value: readonly number[] };

export type Tensor = {
  readonly name: string;
  /** Fastest-moving dimension first, as in GGUF: a matrix is [columns, rows]. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
};

/** Encodes a model file. */
export function ggufBytes(metadata: ReadonlyMap<string, MetadataValue>, tensors: readonly Tensor[]): Buffer {
  const header: Buffer[] = [
    Buffer.from('GGUF'),
    uint32(VERSION),
    uint64(tensors.length),
    uint64(metadata.size + 1),
    ...entry('general.alignment', { type: 'uint32', value: ALIGNMENT }),
    ...[...metadata].flatMap(([key, value]) => entry(key, value)),
  ];
  const data: Buffer[] = [];
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    if (shape.reduce((product, size) => product * size, 1) !== values.length) {
      throw new RangeError(`tensor ${name}: ${values.length} values do not fill ${shape.join(' x ')}`);
    }
    header.push(text(name), uint32(shape.length), ...shape.map(uint64), uint32(TENSOR_TYPE_F32), uint64(offset));
    const bytes = float32s(values);
    data.push(bytes, padding(bytes.length));
    offset += aligned(bytes.length);
  }
  const head = Buffer.concat(header);
  return Buffer.concat([head, padding(head.length), ...data]);
}

function entry(key: string, value: MetadataValue): Buffer[] {
  return [text(key), ...typed(value)];
}

function typed(metadata: MetadataValue): Buffer[] {
  switch (metadata.type) {
    case 'uint32':
      return [uint32(VALUE_TYPE.uint32), uint32(metadata.value)];
    case 'float32':
      return [uint32(VALUE_TYPE.float32), float32s(Float32Array.of(metadata.value))];
    case 'bool':
      return [uint32(VALUE_TYPE.bool), Buffer.of(metadata.value ? 1 : 0)];
    case 'string':
      return [uint32(VALUE_TYPE.string), text(metadata.value)];
    case 'strings':
      return [...array(VALUE_TYPE.string, metadata.value.length), ...metadata.value.map(text)];
    case 'int32s':
      return [...array(VALUE_TYPE.int32, metadata.value.length), ...metadata.value.map(int32)];
  }
}

function array(elementType: number, length: number): Buffer[] {
  return [uint32(VALUE_TYPE.array), uint32(elementType), uint64(length)];
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function float32s(values: Float32Array): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4);
  });
  return bytes;
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

function padding(length: number): Buffer {
  return Buffer.alloc(aligned(length) - length);
}
