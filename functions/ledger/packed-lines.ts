/**
 * Packs JSON lines into few bytes: the rollouts of one request with raw DEFLATE, because the lines of a group differ
 * little, and parts of a segment as gzip members.
 */

/** The part of `node:zlib` that is used here. workerd has it without a compatibility flag. */
type Zlib = {
  readonly deflateRawSync: (data: Uint8Array, options: { readonly level: number }) => Uint8Array;
  readonly inflateRawSync: (data: Uint8Array) => Uint8Array;
  readonly gzipSync: (data: Uint8Array, options: { readonly level: number }) => Uint8Array;
  readonly gunzipSync: (data: Uint8Array) => Uint8Array;
};
type Runtime = {
  readonly JSON: JSON;
  readonly process?: { readonly getBuiltinModule?: (name: 'node:zlib') => Zlib | undefined };
};

const { process: runtimeProcess }: Runtime = globalThis;
const zlib = runtimeProcess?.getBuiltinModule?.('node:zlib');

/** Level 1 takes an eighth of the time of level 6 for 10 % more bytes. */
const LEVEL = 1;
/** Nobody waits for a segment, which is stored for the life of its run. */
const MEMBER_LEVEL = 6;

/** Writes one JSON line per value, compressed. */
export async function packLines(values: readonly unknown[]): Promise<ArrayBuffer> {
  const text = new TextEncoder().encode(values.map((value) => JSON.stringify(value)).join('\n'));
  if (zlib !== undefined) return new Uint8Array(zlib.deflateRawSync(text, { level: LEVEL })).buffer;
  return throughStream(text, new CompressionStream('deflate-raw'));
}

/** Reads what `packLines` wrote. @throws for anything else. */
export async function unpackLines(packed: ArrayBuffer): Promise<unknown[]> {
  return parseLines(await inflateLines(packed));
}

/** The text that `packLines` compressed, as UTF-8. @throws for anything else. */
export async function inflateLines(packed: ArrayBuffer): Promise<Uint8Array> {
  if (zlib !== undefined) return zlib.inflateRawSync(new Uint8Array(packed));
  return new Uint8Array(await throughStream(new Uint8Array(packed), new DecompressionStream('deflate-raw')));
}

/** Compresses text to one gzip member. */
export async function gzipMember(text: Uint8Array): Promise<Uint8Array> {
  if (zlib !== undefined) return zlib.gzipSync(text, { level: MEMBER_LEVEL });
  return new Uint8Array(await throughStream(text, new CompressionStream('gzip')));
}

/** Decompresses one gzip member. @throws for anything else, and for a wrong checksum. */
export async function gunzipMember(member: Uint8Array): Promise<Uint8Array> {
  if (zlib !== undefined) return zlib.gunzipSync(member);
  return new Uint8Array(await throughStream(member, new DecompressionStream('gzip')));
}

/** Parses JSON lines. */
export function parseLines(text: Uint8Array): unknown[] {
  return new TextDecoder()
    .decode(text)
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

function throughStream(data: Uint8Array, through: CompressionStream | DecompressionStream): Promise<ArrayBuffer> {
  return new Response(new Blob([Uint8Array.from(data)]).stream().pipeThrough(through)).arrayBuffer();
}
