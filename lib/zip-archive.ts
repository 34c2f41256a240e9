/**
 * Reads a ZIP archive without unpacking it: its list of files, and one file at a time. Format: PKWARE APPNOTE 6.3.10,
 * sections 4.3.7, 4.3.12 and 4.3.16, without ZIP64 (archives over 4 GiB or 65,534 files) and encryption.
 */

export type ZipEntry = {
  readonly name: string;
  /** 0 stored, 8 deflate, 93 Zstandard. */
  readonly method: number;
  /** Size in the archive, in bytes. */
  readonly packed_bytes: number;
  /** Where its local header begins, in bytes. */
  readonly offset: number;
};

const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
/** Says in a 32-bit field that the value is in a ZIP64 record. */
const IN_ZIP64 = 0xffffffff;

/** The files of an archive, in its order; `null` if it is none, is cut off, or needs ZIP64. */
export async function zipEntries(archive: Blob): Promise<readonly ZipEntry[] | null> {
  const tail = await viewOf(archive.slice(Math.max(0, archive.size - END_BYTES - MAX_COMMENT_BYTES)));
  let end = tail.byteLength - END_BYTES;
  while (end >= 0 && tail.getUint32(end, true) !== END_SIGNATURE) end--;
  if (end < 0) return null;
  const bytes = tail.getUint32(end + 12, true);
  const start = tail.getUint32(end + 16, true);
  if (start === IN_ZIP64 || start + bytes > archive.size) return null;
  const list = await viewOf(archive.slice(start, start + bytes));
  const entries: ZipEntry[] = [];
  for (let at = 0; at + ENTRY_BYTES <= list.byteLength; ) {
    if (list.getUint32(at, true) !== ENTRY_SIGNATURE) return null;
    const nameBytes = list.getUint16(at + 28, true);
    const name = new TextDecoder().decode(new Uint8Array(list.buffer, at + ENTRY_BYTES, nameBytes));
    const packed_bytes = list.getUint32(at + 20, true);
    const offset = list.getUint32(at + 42, true);
    if (packed_bytes === IN_ZIP64 || offset === IN_ZIP64) return null;
    entries.push({ name, method: list.getUint16(at + 10, true), packed_bytes, offset });
    at += ENTRY_BYTES + nameBytes + list.getUint16(at + 30, true) + list.getUint16(at + 32, true);
  }
  return entries;
}

/** Unpacks Zstandard, which not every runtime can. */
export type Unpack = (packed: Blob) => Promise<string>;

/**
 * The text of a file of the archive; `null` if it is compressed in a way that this runtime does not know.
 * @param zstandard unpacks method 93; `null` = the runtime cannot.
 * @throws TypeError if the packed data is broken.
 */
export async function entryText(archive: Blob, entry: ZipEntry, zstandard: Unpack | null): Promise<string | null> {
  const header = await viewOf(archive.slice(entry.offset, entry.offset + LOCAL_BYTES));
  const start = entry.offset + LOCAL_BYTES + header.getUint16(26, true) + header.getUint16(28, true);
  const packed = archive.slice(start, start + entry.packed_bytes);
  switch (entry.method) {
    case 0:
      return packed.text();
    case 8:
      return new Response(packed.stream().pipeThrough(new DecompressionStream('deflate-raw'))).text();
    case 93:
      return zstandard === null ? null : zstandard(packed);
    default:
      return null;
  }
}

async function viewOf(part: Blob): Promise<DataView<ArrayBuffer>> {
  return new DataView(await part.arrayBuffer());
}
