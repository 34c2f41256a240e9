/** Loads the script of a page on first visit, so that no page waits for the scripts of another one. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type Loaded<P> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed' }
  | { readonly state: 'loaded'; readonly component: ComponentType<P> };

/** @param load imports the module and returns its page; must be the same function at every render. */
export function LazyPage<P extends object>({ load, props }: { load: () => Promise<ComponentType<P>>; props: P }) {
  const [page, setPage] = useState<Loaded<P>>({ state: 'loading' });
  useEffect(() => {
    let isMounted = true;
    setPage({ state: 'loading' });
    load().then(
      (component) => isMounted && setPage({ state: 'loaded', component }),
      () => isMounted && setPage({ state: 'failed' }),
    );
    return () => {
      isMounted = false;
    };
  }, [load]);
  switch (page.state) {
    case 'loading':
      return (
        <main class="page" aria-busy="true">
          <p class="muted is-late" role="status">
            Loading the page…
          </p>
        </main>
      );
    case 'failed':
      return (
        <main class="page">
          <div class="notice notice-bad" role="alert">
            <p class="notice-title">Failed to load this page</p>
            <p>The server is unreachable or has been updated. Reload the dashboard.</p>
          </div>
        </main>
      );
    case 'loaded': {
      const Page = page.component;
      return <Page {...props} />;
    }
  }
}
