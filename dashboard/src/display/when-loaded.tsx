/** What a page asked for: that it is on its way, why it did not come, or what to show of it. */
import type { ComponentChildren } from 'preact';
import type { Loading } from '../api/loaded.ts';
import { ProblemNotice } from './problem-notice.tsx';

export function WhenLoaded<T>({
  loading: { loaded, reload },
  waiting = 'Loading…',
  children,
}: {
  loading: Loading<T>;
  /** Said meanwhile. */
  waiting?: string;
  children: (value: T) => ComponentChildren;
}) {
  switch (loaded.state) {
    case 'loading':
      return (
        <p class="muted pad" role="status">
          {waiting}
        </p>
      );
    case 'failed':
      return <ProblemNotice failure={loaded.failure} retry={reload} />;
    case 'loaded':
      return <>{children(loaded.value)}</>;
  }
}
