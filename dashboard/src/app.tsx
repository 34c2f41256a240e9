/** The frame around the pages: header, skip link, settings, lazy page loading. */
import { useEffect } from 'preact/hooks';
import { EmptyState } from './display/empty-state.tsx';
import { Header } from './navigation/header.tsx';
import { LazyPage } from './navigation/lazy-page.tsx';
import { hrefOf, PAGE_NAMES, type Route, useRoute } from './navigation/route.ts';
import { SettingsDialog } from './settings/settings-dialog.tsx';

export function App() {
  const route = useRoute();
  useEffect(() => {
    document.title = `${route.page === 'unknown' ? 'Unknown page' : PAGE_NAMES[route.page]} · Citeward`;
  }, [route.page]);
  return (
    <>
      {/* A button, because the hash of a link would be a route. */}
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        Skip to content
      </button>
      <Header page={route.page} />
      <div id="content" tabIndex={-1}>
        <Page route={route} />
      </div>
      <SettingsDialog />
    </>
  );
}

const batchesPage = async () => (await import('./batches/batches-page.tsx')).BatchesPage;
const comparePage = async () => (await import('./compare/compare-page.tsx')).ComparePage;
const apiPage = async () => (await import('./docs/docs-page.tsx')).DocsPage;
const labelPage = async () => (await import('./label/label-page.tsx')).LabelPage;
const playgroundPage = async () => (await import('./playground/playground-page.tsx')).PlaygroundPage;
const probePage = async () => (await import('./probe/probe-page.tsx')).ProbePage;
const replayPage = async () => (await import('./replay/replay-page.tsx')).ReplayPage;
const rubricsPage = async () => (await import('./rubrics/rubrics-page.tsx')).RubricsPage;
const runsPage = async () => (await import('./runs/runs-page.tsx')).RunsPage;

function Page({ route: { page, path, query } }: { route: Route }) {
  switch (page) {
    case 'playground':
      return <LazyPage key={page} load={playgroundPage} props={{ example: path[0] ?? '' }} />;
    case 'runs':
      // A step is a number or `none`.
      if (path[1] === 'rubrics') {
        return <LazyPage key="rubrics" load={rubricsPage} props={{ path: [path[0] ?? '', ...path.slice(2)] }} />;
      }
      return <LazyPage key={page} load={runsPage} props={{ path, query }} />;
    case 'probe':
      return <LazyPage key={page} load={probePage} props={{ recipe: path[0] ?? '' }} />;
    case 'compare':
      return <LazyPage key={page} load={comparePage} props={{ query }} />;
    case 'replay':
      return <LazyPage key={page} load={replayPage} props={{ path, query }} />;
    case 'batches':
      return <LazyPage key={page} load={batchesPage} props={{ path }} />;
    case 'label':
      return <LazyPage key={page} load={labelPage} props={{}} />;
    case 'api':
      return <LazyPage key={page} load={apiPage} props={{ path }} />;
    case 'unknown':
      return <UnknownPage />;
  }
}

/** An address of no page: a link that is cut off, or of another version. */
function UnknownPage() {
  return (
    <main class="page">
      <h1 class="visually-hidden">Unknown page</h1>
      <EmptyState title="There is no such page">
        The address <code>{location.hash}</code> is of no page of this dashboard. It may be cut off, or of another
        version. <a href={hrefOf('playground')}>Playground</a> · <a href={hrefOf('runs')}>Runs</a>
      </EmptyState>
    </main>
  );
}
