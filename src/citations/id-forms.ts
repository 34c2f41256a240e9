/**
 * Recognises ids by the ids of the sources, where nothing else says that a word is an id: in prose, and in parentheses.
 */
import { isAsciiDigit, isAsciiLetter } from '../text/characters.ts';
import type { SourceSet } from './types.ts';

/** Longest id that is recognised, in UTF-16 code units. */
export const MAX_ID_CHARS = 64;

/**
 * A test whether a word is the id of a source, or has the form of one: the same letters with a number of at most one
 * more digit (`S12` beside `S1`), or the same beginning up to its last `_`, `-` or `:` or any `_` (`doc_zz1` beside
 * `doc_27bx` or `doc_27bx:snippet_1`).
 *
 * @example
 * idRecogniser(sourcesFromList([{ id: 'S1', text: 'x' }]))('S12'); // true
 */
export function idRecogniser(sources: SourceSet): (word: string) => boolean {
  let forms: ReadonlyMap<string, number> | null = null;
  return (word) => {
    if (sources.byId.has(word)) return true;
    if (word.length > MAX_ID_CHARS) return false;
    forms ??= formsOf(sources);
    const { form, digits } = formOf(word);
    const most = forms.get(form);
    return most !== undefined && digits <= most + 1;
  };
}

/** The forms of the sources' ids, each with the most digits of its number. */
function formsOf({ byId }: SourceSet): ReadonlyMap<string, number> {
  const forms = new Map<string, number>();
  for (const id of byId.keys()) {
    if (id.length > MAX_ID_CHARS) continue;
    const { form, digits } = formOf(id);
    if (form !== '') forms.set(form, Math.max(forms.get(form) ?? 0, digits));
    // The parts of `doc_27bx:snippet_1` have forms, too.
    for (let at = id.indexOf('_', 1); at !== -1 && at < form.length; at = id.indexOf('_', at + 1)) {
      if (at < form.length - 1) forms.set(id.slice(0, at + 1), 0);
    }
  }
  return forms;
}

/** `S12` → `S`, two digits. `doc_27bx` → `doc_`, no digits: what follows can be anything. Others have no form. */
function formOf(id: string): { readonly form: string; readonly digits: number } {
  const joint = Math.max(id.lastIndexOf('_'), id.lastIndexOf('-'), id.lastIndexOf(':'));
  if (joint > 0) return { form: id.slice(0, joint + 1), digits: 0 };
  let letters = 0;
  while (letters < id.length && isAsciiLetter(id.charCodeAt(letters))) letters++;
  for (let at = letters; at < id.length; at++) {
    if (!isAsciiDigit(id.charCodeAt(at))) return { form: '', digits: 0 };
  }
  return letters === 0 || letters === id.length
    ? { form: '', digits: 0 }
    : { form: id.slice(0, letters), digits: id.length - letters };
}
