/** Asks again and again while something goes on and the page is looked at. */
import { useEffect } from 'preact/hooks';

const AGAIN_MS = 1_500;

/** @param since changes with every answer: the next question waits for it. */
export function useAgainWhile(goesOn: boolean, again: () => void, since: unknown): void {
  useEffect(() => {
    if (!goesOn) return;
    const timer = setTimeout(() => {
      if (document.visibilityState === 'visible') again();
    }, AGAIN_MS);
    const onShown = (): void => {
      if (document.visibilityState === 'visible') again();
    };
    document.addEventListener('visibilitychange', onShown);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onShown);
    };
  }, [goesOn, since]);
}
