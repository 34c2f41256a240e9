/** Reads a request body in pieces of a chosen size. */
export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;
  #rest = new Uint8Array(0);

  constructor(body: ReadableStream<Uint8Array> | null) {
    this.#reader = body?.getReader() ?? null;
  }

  /** The next bytes: `size` of them, or fewer at the end of the body. */
  async read(size: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(size);
    let filled = 0;
    while (filled < size) {
      if (this.#rest.byteLength === 0) {
        const next = await this.#reader?.read();
        if (next === undefined || next.done) break;
        this.#rest = new Uint8Array(next.value);
      }
      const taken = this.#rest.subarray(0, size - filled);
      bytes.set(taken, filled);
      filled += taken.byteLength;
      this.#rest = this.#rest.subarray(taken.byteLength);
    }
    return bytes.subarray(0, filled);
  }

  /** Reads to the end: the binding waits until its body is taken, also where the reply is a refusal. */
  async drain(): Promise<void> {
    if (this.#reader === null) return;
    for (let isOver = false; !isOver; ) isOver = (await this.#reader.read()).done;
  }
}
