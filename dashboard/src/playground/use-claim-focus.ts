/** Which claim is active: looked at by hover or focus, or followed to its sources. */
import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';

export type ClaimFocus = {
  /** Index of the active claim; `null` = none. */
  readonly active: number | null;
  /** The panel with the sources. */
  readonly panel: RefObject<HTMLElement | null>;
  readonly look: (claim: number) => void;
  /** Moves the focus to the sources of the claim. */
  readonly follow: (claim: number) => void;
  /** Shows all sources, and returns the focus to the claim. */
  readonly leave: () => void;
};

export function useClaimFocus(claims: number): ClaimFocus {
  const [active, setActive] = useState<number | null>(null);
  const [pinned, setPinned] = useState<number | null>(null);
  const panel = useRef<HTMLElement>(null);
  return {
    active: active !== null && active < claims ? active : null,
    panel,
    look: (claim) => {
      if (pinned === null || document.activeElement?.id === `claim-${claim}`) setActive(claim);
    },
    follow: (claim) => {
      setActive(claim);
      setPinned(claim);
      panel.current?.focus({ preventScroll: true });
      panel.current?.scrollIntoView({ block: 'nearest' });
    },
    leave: () => {
      // Tab then moves on to the next claim.
      if (pinned !== null) document.getElementById(`claim-${pinned}`)?.focus();
      setActive(null);
      setPinned(null);
    },
  };
}
