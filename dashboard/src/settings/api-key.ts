/** The API key of this tab: in sessionStorage and nowhere else, gone with the tab. It leaves as a header, never in a URL. */
import { watchedValue } from './watched-value.ts';

const STORED_AS = 'citeward.key';

/** Empty = no key: a deployment that allows anonymous requests needs none. */
export const apiKey = watchedValue(sessionStorage.getItem(STORED_AS) ?? '');

export function keepApiKey(key: string): void {
  if (key === '') sessionStorage.removeItem(STORED_AS);
  else sessionStorage.setItem(STORED_AS, key);
  apiKey.set(key);
}
