/** Stands beside every reward that the built-in judge made, so that nobody takes it for a model's. */
export function StandInBadge() {
  return <p class="stand-in">word-matching stand-in, not a model</p>;
}
