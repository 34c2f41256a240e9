/** Maps offsets of a converted response to the text that the vendor sent. */

/** Pieces of a converted response, in order: where each begins there, where in the vendor's text, and its length. */
export class TextMap {
  readonly #converted: number[] = [];
  readonly #original: number[] = [];
  readonly #lengths: number[] = [];

  add(converted: number, original: number, length: number): void {
    this.#converted.push(converted);
    this.#original.push(original);
    this.#lengths.push(length);
  }

  /** The offset in the vendor's text. Added markup has the place at which it was added. */
  at(offset: number): number {
    let low = 0;
    let high = this.#converted.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#converted[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const into = offset - (this.#converted[low] ?? 0);
    return (this.#original[low] ?? 0) + Math.max(0, Math.min(into, this.#lengths[low] ?? 0));
  }
}
