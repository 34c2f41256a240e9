/** Turns text into the tokens of the policy and back: words, numbers, punctuation, tags and citation markers. */

/** Tokens with a meaning of their own: padding, start and end of an answer (policy.py), and a word it does not know. */
const RESERVED = ['<padding>', '<start>', '<end>', '<unknown>'] as const;
const UNKNOWN = RESERVED.indexOf('<unknown>');

const TOKEN = /<[^<>]*>|\[\[\d+\]\([^()\s]*\)\]|\[[^[\]\s]*\]|[.,?!:]|[^\s.,?!:<>[\]]+|\S/gu;

/** Splits a text. Tags (`<cite id="S1">`) and markers (`[S1]`) are one token. */
export function tokensOf(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

/** Joins tokens; punctuation follows its word. */
export function textOf(tokens: readonly string[]): string {
  return tokens.map((token, n) => (n === 0 || /^[.,?!]$/u.test(token) ? token : ` ${token}`)).join('');
}

export class Vocabulary {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #tokens: readonly string[];

  /** @param texts all that the policy has to read or write. */
  constructor(texts: Iterable<string>) {
    const seen = new Set<string>();
    for (const text of texts) for (const token of tokensOf(text)) seen.add(token);
    this.#tokens = [...RESERVED, ...[...seen].sort()];
    this.#ids = new Map(this.#tokens.map((token, id) => [token, id]));
  }

  get size(): number {
    return this.#tokens.length;
  }

  /** Tokens in the order of their ids. */
  get tokens(): readonly string[] {
    return this.#tokens;
  }

  encode(tokens: readonly string[]): number[] {
    return tokens.map((token) => this.#ids.get(token) ?? UNKNOWN);
  }

  decode(ids: readonly number[]): string[] {
    return ids.map((id) => this.#tokens[id] ?? RESERVED[UNKNOWN] ?? '');
  }
}
