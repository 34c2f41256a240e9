/** Draws the parts of a long list that are near the view; the others are empty space of their height. */
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';

/** A part of a list that is drawn as a whole. */
export type ListPart = {
  /** The value of `data-part` on its element. */
  readonly key: string;
  /** Its height in pixels, as long as it has not been drawn. */
  readonly estimate_px: number;
};

export type NearParts = {
  /** The parts from `from` up to and without `to` are drawn. */
  readonly from: number;
  readonly to: number;
  /** Heights of the parts before and after those, in pixels. */
  readonly before_px: number;
  readonly after_px: number;
};

/** A shorter list is drawn whole, so that a search in the page and a print find all of it. */
const WHOLE_PX = 40_000;
/** What is drawn above and below the view, and how much of it may be missing before more is drawn. */
const DRAWN_PX = 2_000;
const NEEDED_PX = 1_000;
/** Parts that are drawn before and after the one that the list begins with. */
const PARTS_AROUND_START = 20;

const LISTENING = { passive: true };

/**
 * Follows the scrolling of the page.
 * @param list its element; each part in it has its key as `data-part`.
 * @param layout heights that were measured are forgotten when it changes.
 * @param start the index of the part that the list begins with; it may be -1.
 * @example
 * const { from, to, before_px, after_px } = useNearParts(table, parts, 'first lines', -1);
 */
export function useNearParts(
  list: { readonly current: HTMLTableElement | null },
  parts: readonly ListPart[],
  layout: string,
  start: number,
): NearParts {
  const heights = useMemo(() => new Map<string, number>(), [layout]);
  const [range, setRange] = useState({ from: 0, to: 0 });
  const heightOf = ({ key, estimate_px }: ListPart): number => heights.get(key) ?? estimate_px;
  const isWhole = parts.reduce((sum, { estimate_px }) => sum + estimate_px, 0) < WHOLE_PX;

  /** The parts between two distances from the top of the list. */
  const between = (top: number, bottom: number): { readonly from: number; readonly to: number } => {
    let end = 0;
    let from = -1;
    for (const [n, part] of parts.entries()) {
      end += heightOf(part);
      if (from === -1 && end > top) from = n;
      if (end > bottom) return { from, to: n + 1 };
    }
    return { from: from === -1 ? Math.max(0, parts.length - 1) : from, to: parts.length };
  };
  const follow = (): void => {
    if (list.current === null || isWhole) return;
    for (const body of list.current.tBodies) {
      const key = body.dataset['part'];
      if (key !== undefined) heights.set(key, body.offsetHeight);
    }
    const top = -list.current.getBoundingClientRect().top;
    const bottom = top + window.innerHeight;
    const needed = between(top - NEEDED_PX, bottom + NEEDED_PX);
    setRange((drawn) =>
      drawn.from <= needed.from && needed.to <= drawn.to ? drawn : between(top - DRAWN_PX, bottom + DRAWN_PX),
    );
  };
  useLayoutEffect(() => {
    if (start !== -1) setRange({ from: Math.max(0, start - PARTS_AROUND_START), to: start + PARTS_AROUND_START });
  }, [parts, start]);
  // After each drawing, too: what is drawn may be of another height than the page was scrolled by.
  useLayoutEffect(() => {
    if (start === -1) follow();
    addEventListener('scroll', follow, LISTENING);
    addEventListener('resize', follow, LISTENING);
    return () => {
      removeEventListener('scroll', follow);
      removeEventListener('resize', follow);
    };
  });
  if (isWhole) return { from: 0, to: parts.length, before_px: 0, after_px: 0 };
  const { from, to } = range;
  const sum = (some: readonly ListPart[]): number => some.reduce((px, part) => px + heightOf(part), 0);
  return { from, to, before_px: sum(parts.slice(0, from)), after_px: sum(parts.slice(to)) };
}
