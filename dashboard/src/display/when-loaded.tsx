/** Renders loaded data, or its loading state, or its failure with a retry button. */
import type { ComponentChildren } from 'preact';
import type { Loading } from '../api/use-api.ts';
import { ProblemNotice } from './problem-notice.tsx';

export function WhenLoaded<T>({
  loading: { loaded, reload },
  waiting = 'Loading…',
  children,
}: {
  loading: Loading<T>;
  /** Text while loading. */
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
