/** A page whose script is loaded when somebody goes there: the playground does not wait for charts and recipes. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type Loaded<P> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed' }
  | { readonly state: 'loaded'; readonly component: ComponentType<P> };

/** @param load imports the module and gives its page; the same function at every render. */
export function LazyPage<P extends object>({ load, props }: { load: () => Promise<ComponentType<P>>; props: P }) {
  const [page, setPage] = useState<Loaded<P>>({ state: 'loading' });
  useEffect(() => {
    let isWanted = true;
    setPage({ state: 'loading' });
    load().then(
      (component) => isWanted && setPage({ state: 'loaded', component }),
      () => isWanted && setPage({ state: 'failed' }),
    );
    return () => {
      isWanted = false;
    };
  }, [load]);
  switch (page.state) {
    case 'loading':
      return <main class="page" aria-busy="true" />;
    case 'failed':
      return (
        <main class="page">
          <div class="notice notice-bad" role="alert">
            <p class="notice-title">This page could not be loaded</p>
            <p>The server is gone, or a newer version has taken the place of this one. Load the dashboard anew.</p>
          </div>
        </main>
      );
    case 'loaded': {
      const Page = page.component;
      return <Page {...props} />;
    }
  }
}
