/** What made the results of a run: recipes, judges, policies, by name. */

/** Names that are kept of a kind: each row may bring others. */
const MAX_NAMES = 4;

export class MadeBy<Kind extends string> {
  readonly #names: ReadonlyMap<Kind, Set<string>>;

  /** @param kinds in the order in which they are said. */
  constructor(...kinds: readonly Kind[]) {
    this.#names = new Map(kinds.map((kind) => [kind, new Set()]));
  }

  add(kind: Kind, name: string): void {
    const names = this.#names.get(kind);
    if (names !== undefined && names.size < MAX_NAMES) names.add(name);
  }

  /** `recipe refiner-rl-balanced · judge qwen`; empty where there is none. */
  toString(): string {
    return [...this.#names]
      .filter(([, names]) => names.size > 0)
      .map(([kind, names]) => `${kind} ${[...names].join(', ')}${names.size === MAX_NAMES ? ', …' : ''}`)
      .join(' · ');
  }
}

/** A recipe by its name, or an inline one by the beginning of its digest. */
export function recipeText({ name, digest }: { readonly name: string | null; readonly digest: string }): string {
  return name ?? `inline ${digest.slice(0, 12)}`;
}
