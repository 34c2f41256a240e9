/** The top bar: navigation, theme switch, settings. */
import { apiKey } from '../settings/api-key.ts';
import { useObservable } from '../settings/observable.ts';
import { openSettings } from '../settings/settings-dialog.tsx';
import { chooseTheme, shownTheme } from '../settings/theme.ts';
import { hrefOf, PAGE_NAMES, PAGES, type Page } from './route.ts';

export function Header({ page }: { page: Page | 'unknown' }) {
  const shown = useObservable(shownTheme);
  const key = useObservable(apiKey);
  const other = shown === 'dark' ? 'light' : 'dark';
  return (
    <header class="top">
      <a class="brand" href={hrefOf('playground')} aria-label="Citeward, home">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path class="brand-shield" d="M16 2 28 6v9c0 7.6-4.9 12.7-12 15C8.9 27.7 4 22.6 4 15V6z" />
          <path
            class="brand-quote"
            d="M9.5 18.5c0-4 1.7-6.6 4.7-8l.9 1.7c-1.6.9-2.5 2.1-2.7 3.5h2.4v5H9.5zm8 0c0-4 1.7-6.6 4.7-8l.9 1.7c-1.6.9-2.5 2.1-2.7 3.5h2.4v5h-5.3z"
          />
        </svg>
        <span>Citeward</span>
      </a>
      <nav aria-label="Pages">
        {PAGES.filter((name) => name !== 'compare').map((name) => (
          <a key={name} href={hrefOf(name)} {...(name === shownUnder(page) ? { 'aria-current': 'page' } : {})}>
            {PAGE_NAMES[name]}
          </a>
        ))}
      </nav>
      <div class="corner">
        <button
          type="button"
          class="icon"
          onClick={() => chooseTheme(other)}
          aria-label={`Use the ${other} theme`}
          title={`Use the ${other} theme`}
        >
          <svg viewBox="0 0 24 24" aria-hidden="true">
            {shown === 'dark' ? (
              <path d="M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10M12 1v3M12 20v3M1 12h3M20 12h3M4.2 4.2l2.1 2.1M17.7 17.7l2.1 2.1M4.2 19.8l2.1-2.1M17.7 6.3l2.1-2.1" />
            ) : (
              <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5" />
            )}
          </svg>
        </button>
        <button
          type="button"
          class="icon"
          onClick={openSettings}
          aria-label="Settings"
          title="Settings: API key, theme"
        >
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M14 10a4.5 4.5 0 1 0-3.2 4.3L13 16.5h2V18.5h2v2h3.5v-3.3l-6.8-6.5" />
            <path d="M8.6 8.6h.01" />
          </svg>
          {key !== '' && <span class="key-dot" title="An API key is set" />}
        </button>
      </div>
    </header>
  );
}

/** A comparison begins at a run, so it has no entry of its own. */
function shownUnder(page: Page | 'unknown'): Page | 'unknown' {
  return page === 'compare' ? 'runs' : page;
}
