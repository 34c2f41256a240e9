/** Finds the call that each tool result answers: by id, else by the tool's name, else by order. */
import type { TrajectoryDraft } from './draft.ts';
import type { TrajectoryResult, Turn } from './trajectory.ts';

type Place = NonNullable<TrajectoryResult['call']>;

/** Calls without a result so far, oldest first. Each place leaves every list once, so all searches are linear. */
class OpenCalls {
  readonly #lists = new Map<string, { readonly places: Place[]; next: number }>();
  readonly #answered = new Set<Place>();

  add(key: string, place: Place): void {
    const list = this.#lists.get(key);
    if (list === undefined) this.#lists.set(key, { places: [place], next: 0 });
    else list.places.push(place);
  }

  /** Takes the oldest open call under a key. */
  take(key: string): Place | null {
    const list = this.#lists.get(key);
    if (list === undefined) return null;
    while (list.next < list.places.length) {
      const place = list.places[list.next++];
      if (place === undefined || this.#answered.has(place)) continue;
      this.#answered.add(place);
      return place;
    }
    return null;
  }

  isOpen(place: Place): boolean {
    return !this.#answered.has(place);
  }
}

const ANY = 'any';

/**
 * Links results to calls of earlier turns and of their own. A result with an id answers the call of that id. A result
 * without one answers the oldest open call of its tool; without a name too, the oldest open call: asynchronous tools
 * answer after synchronous ones (TRL), so order alone would be wrong.
 */
export function linkCalls(turns: readonly Turn[], draft: TrajectoryDraft): Turn[] {
  const open = new OpenCalls();
  const all: { readonly place: Place; readonly path: Turn['path'] }[] = [];
  const linked = turns.map((turn, index): Turn => {
    for (const [call, { id, name, path }] of turn.calls.entries()) {
      const place = { turn: index, call };
      all.push({ place, path });
      open.add(ANY, place);
      open.add(`name ${name}`, place);
      open.add(id === null ? 'no id' : `id ${id}`, place);
    }
    if (turn.results.length === 0) return turn;
    return {
      ...turn,
      results: turn.results.map((result): TrajectoryResult => {
        const { call_id, name, path } = result;
        const place =
          call_id !== null
            ? (open.take(`id ${call_id}`) ?? open.take('no id'))
            : name !== null
              ? open.take(`name ${name}`)
              : open.take(ANY);
        if (place === null) {
          draft.finding('result_without_call', path);
          return result;
        }
        return { ...result, call: place, name: name ?? turns[place.turn]?.calls[place.call]?.name ?? null };
      }),
    };
  });
  for (const { place, path } of all) if (open.isOpen(place)) draft.finding('call_without_result', path);
  return linked;
}
