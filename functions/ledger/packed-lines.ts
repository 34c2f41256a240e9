/**
 * Packs the rollouts of one request into few bytes: JSON lines, compressed together with raw DEFLATE, because the lines
 * of a group differ little.
 */

/** The part of `node:zlib` that is used here. workerd has it without a compatibility flag. */
type Zlib = {
  readonly deflateRawSync: (data: Uint8Array, options: { readonly level: number }) => Uint8Array;
  readonly inflateRawSync: (data: Uint8Array) => Uint8Array;
};
type Runtime = {
  readonly JSON: JSON;
  readonly process?: { readonly getBuiltinModule?: (name: 'node:zlib') => Zlib | undefined };
};

const { process: runtimeProcess }: Runtime = globalThis;
const zlib = runtimeProcess?.getBuiltinModule?.('node:zlib');

/** Level 1 takes an eighth of the time of level 6 for 10 % more bytes. */
const LEVEL = 1;

/** Writes one JSON line per value, compressed. */
export async function packLines(values: readonly unknown[]): Promise<ArrayBuffer> {
  const text = new TextEncoder().encode(values.map((value) => JSON.stringify(value)).join('\n'));
  if (zlib !== undefined) return new Uint8Array(zlib.deflateRawSync(text, { level: LEVEL })).buffer;
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer();
}

/** Reads what `packLines` wrote. @throws for anything else. */
export async function unpackLines(packed: ArrayBuffer): Promise<unknown[]> {
  const text = new TextDecoder().decode(await inflate(packed));
  return text.split('\n').map((line): unknown => JSON.parse(line));
}

async function inflate(packed: ArrayBuffer): Promise<Uint8Array | ArrayBuffer> {
  if (zlib !== undefined) return zlib.inflateRawSync(new Uint8Array(packed));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).arrayBuffer();
}
