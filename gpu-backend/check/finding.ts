/**
 * The report of a check: one line a requirement. `not_reported`: the backend shows neither that the requirement is met
 * nor that it is broken, so it counts as neither.
 */

export type Outcome = 'pass' | 'fail' | 'not_reported';

export type Finding = {
  /** Stable name, for `--json`. */
  readonly id: string;
  readonly title: string;
  readonly outcome: Outcome;
  /** What the check observed, as one printable line. */
  readonly saw: string;
  /** What to change if the requirement is not met. Flags are vLLM's. */
  readonly change: string | null;
};

/** A requirement: its name, and what to change when it is not met. */
export type Requirement = { readonly id: string; readonly title: string; readonly change: string };

export function pass({ id, title }: Requirement, saw: string): Finding {
  return { id, title, outcome: 'pass', saw, change: null };
}

export function fail({ id, title, change }: Requirement, saw: string, otherChange?: string): Finding {
  return { id, title, outcome: 'fail', saw, change: otherChange ?? change };
}

export function notReported({ id, title, change }: Requirement, saw: string, otherChange?: string): Finding {
  return { id, title, outcome: 'not_reported', saw, change: otherChange ?? change };
}
