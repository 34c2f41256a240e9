/** A map that forgets its oldest entries: what keeps the memory of a run bounded whatever the length of its input. */
export class BoundedRecords extends Map<string, string> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: string, record: string): this {
    super.set(key, record);
    if (this.size > this.#limit) {
      const [oldest] = this.keys();
      if (oldest !== undefined) this.delete(oldest);
    }
    return this;
  }
}
