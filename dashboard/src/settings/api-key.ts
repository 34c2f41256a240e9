/** The API key, stored in this tab's sessionStorage only. It is sent as a header, never in a URL. */
import { observable } from './observable.ts';

const STORAGE_KEY = 'citeward.key';

/** Empty without a key; a deployment that allows anonymous requests needs none. */
export const apiKey = observable(sessionStorage.getItem(STORAGE_KEY) ?? '');

export function saveApiKey(key: string): void {
  if (key === '') sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, key);
  apiKey.set(key);
}
