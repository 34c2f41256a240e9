/** Colours of the style sheet for what is drawn on a canvas, which knows no variables. */

/** Lines differ by dashes as well, so that nobody has to tell colours apart. */
export const LINE_DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4], [1, 4]];

/** How many lines have a look of their own. */
export const LINE_LOOKS = LINE_DASHES.length;

/** The colour that a variable has at this place of the page, in the theme that is shown. */
export function colourAt(place: HTMLElement, variable: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${variable})`;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
