/** The answer of a rollout in a list, with its claims marked: its first lines, or all of it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLoading } from '../api/use-api.ts';
import { MarkedAnswer } from '../playground/answer-view.tsx';
import { draftOf } from '../playground/draft.ts';
import { type DetailedRollout, loadDetail } from './load-rollout.ts';
import type { RolloutPlace } from './place.ts';
import { verifiedRollout } from './rollout-text.tsx';

export const ANSWERS_SHOWN = ['hidden', 'first lines', 'whole'] as const;
export type AnswersShown = (typeof ANSWERS_SHOWN)[number];

type RolloutAnswerProps = { place: RolloutPlace; shown: Exclude<AnswersShown, 'hidden'> };

/** Loads the answer when it comes into view, so that a step of a thousand answers opens at once. */
export function RolloutAnswer({ place, shown }: RolloutAnswerProps) {
  const box = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (box.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        setSeen(true);
        observer.disconnect();
      },
      // What is about to come into view is loaded too.
      { rootMargin: '300px' },
    );
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} class={`reading in-list${shown === 'whole' ? '' : ' is-short'}`}>
      {isSeen && <LoadedAnswer place={place} />}
    </div>
  );
}

function LoadedAnswer({ place }: { place: RolloutPlace }) {
  const { loaded } = useLoading(async (signal) => {
    const reply = await loadDetail(place, signal);
    await ownFrame();
    return reply;
  }, JSON.stringify(place));
  switch (loaded.state) {
    case 'loading':
      return null;
    case 'failed':
      return <span class="muted">The answer was not loaded.</span>;
    case 'loaded':
      return loaded.value === null ? null : <StoredAnswer rollout={loaded.value} />;
  }
}

let lastFrame: Promise<void> = Promise.resolve();

/** Resolves in a frame of its own: answers that arrive together are marked one after another while the page scrolls. */
function ownFrame(): Promise<void> {
  lastFrame = lastFrame.then(() => new Promise((resolve) => requestAnimationFrame(() => resolve())));
  return lastFrame;
}

/** The marked answer of a rollout, by what its report says of the claims. */
export function StoredAnswer({ rollout }: { rollout: Pick<DetailedRollout, 'detail'> }) {
  const answer = useMemo(() => {
    const draft = draftOf(rollout.detail?.rollout ?? null);
    return draft === null ? null : { draft, ...verifiedRollout(rollout, draft) };
  }, [rollout]);
  if (answer === null) return <span class="muted">The text of this rollout is not stored, or is no answer.</span>;
  const { draft, verified, states } = answer;
  if (!verified.ok || verified.verification.answer === null) return <span class="muted">{draft.response}</span>;
  return <MarkedAnswer response={draft.response} verification={verified.verification} states={states} />;
}
