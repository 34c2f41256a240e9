/** Light, dark or system theme; stored in localStorage. */
import { observable } from './observable.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORAGE_KEY = 'citeward.theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

export const theme = observable<Theme>(THEMES.find((known) => known === localStorage.getItem(STORAGE_KEY)) ?? 'system');

/** The theme in use: for a canvas, which cannot follow a style sheet. */
export const shownTheme = observable<'light' | 'dark'>(resolveTheme());

function resolveTheme(): 'light' | 'dark' {
  const chosen = theme.get();
  if (chosen !== 'system') return chosen;
  return systemIsDark.matches ? 'dark' : 'light';
}

export function chooseTheme(chosen: Theme): void {
  if (chosen === 'system') localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, chosen);
  theme.set(chosen);
  applyTheme();
}

/** Sets `data-theme` on the root element for the style sheet. */
export function applyTheme(): void {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
  shownTheme.set(resolveTheme());
}

systemIsDark.addEventListener('change', applyTheme);
