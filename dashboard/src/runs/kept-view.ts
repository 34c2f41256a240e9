/** How a person looks at a step, and the rollout that was opened from it: kept until the page is closed. */
import { useState } from 'preact/hooks';
import type { AnswersShown } from './rollout-answer.tsx';
import type { Filter, Sort } from './step-rollouts.ts';

/** The link to a rollout, and how far below the top of the screen it was, in pixels. */
type LeftLink = { readonly key: string; readonly top: number };

export type LinkPlace = {
  /** The link to return to; `null` = none. */
  readonly left: LeftLink | null;
  /** A link is followed: its list returns to it when it is shown again. */
  readonly leave: (link: LeftLink) => void;
  readonly forget: () => void;
};

type View = { readonly filters: ReadonlySet<Filter>; readonly sort: Sort; readonly answers: AnswersShown };

type KeptView = View & {
  readonly place: LinkPlace;
  readonly set: (changed: Partial<View>) => void;
};

const FIRST_VIEW: View = {
  filters: new Set(),
  sort: { by: 'group', isDescending: true },
  answers: 'first lines',
};

const views = new Map<string, View>();
const links = new Map<string, LeftLink>();

/** @param step names the step, with its run. */
export function useKeptView(step: string): KeptView {
  const [view, setView] = useState(views.get(step) ?? FIRST_VIEW);
  const [left, setLeft] = useState(links.get(step) ?? null);
  const forget = (): void => {
    links.delete(step);
    setLeft(null);
  };
  return {
    ...view,
    place: { left, leave: (link) => links.set(step, link), forget },
    set(changed) {
      const next = { ...view, ...changed };
      views.set(step, next);
      setView(next);
    },
  };
}
