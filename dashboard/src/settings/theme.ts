/** Light, dark, or as the system has it. The choice is kept in localStorage: it is no secret and should outlive the tab. */
import { watchedValue } from './watched-value.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED_AS = 'citeward.theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

export const theme = watchedValue<Theme>(THEMES.find((known) => known === localStorage.getItem(STORED_AS)) ?? 'system');

/** What is shown: for what cannot follow a style sheet, such as a canvas. */
export const shownTheme = watchedValue<'light' | 'dark'>(shownNow());

function shownNow(): 'light' | 'dark' {
  const chosen = theme.get();
  if (chosen !== 'system') return chosen;
  return systemIsDark.matches ? 'dark' : 'light';
}

export function chooseTheme(chosen: Theme): void {
  if (chosen === 'system') localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, chosen);
  theme.set(chosen);
  applyTheme();
}

/** Puts the theme on the page, where the style sheet finds it. */
export function applyTheme(): void {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
  shownTheme.set(shownNow());
}

systemIsDark.addEventListener('change', applyTheme);
