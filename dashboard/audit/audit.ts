/**
 * Accessibility audit of a rendered page: control names, landmarks, headings, contrast, horizontal overflow.
 * test/e2e/dashboard.test.ts injects it into the page; it is not part of the bundle.
 *
 * Contrast as in WCAG 2.2, 1.4.3: (L1 + 0.05) / (L2 + 0.05) of relative luminances; 4.5, or 3 for large text.
 */

type Colour = { readonly r: number; readonly g: number; readonly b: number; readonly a: number };

const LEAST_CONTRAST = 4.5;
const LEAST_LARGE_CONTRAST = 3;
const LARGE_PX = 24;
const LARGE_BOLD_PX = 18.66;
const BOLD = 600;
const CONTROLS = 'a[href], button, input, select, textarea, summary, [role="img"], [role="button"]';

/** Returns one line per problem. */
function auditPage(): string[] {
  return [...structureProblems(), ...nameProblems(), ...contrastProblems(), ...roomProblems()];
}

function structureProblems(): string[] {
  const problems: string[] = [];
  const count = (selector: string): number => [...document.querySelectorAll(selector)].filter(isShown).length;
  for (const selector of ['main', 'h1', 'header:not(main *)', 'nav']) {
    if (count(selector) !== 1) problems.push(`${count(selector)} of ${selector}, expected one`);
  }
  if (document.documentElement.lang === '') problems.push('the page has no lang attribute');
  if (!document.title.endsWith('Citeward')) problems.push('the page has no title');
  const seen = new Set<string>();
  for (const { id } of document.querySelectorAll('[id]')) {
    if (seen.has(id)) problems.push(`two elements have the id ${id}`);
    seen.add(id);
  }
  for (const table of document.querySelectorAll('table')) {
    if (isShown(table) && table.querySelector('th[scope="col"]') === null)
      problems.push('a table without column heads');
  }
  let level = 0;
  for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
    if (!isShown(heading)) continue;
    const own = Number(heading.tagName.slice(1));
    if (own > level + 1)
      problems.push(`a heading of level ${own} after one of level ${level}: ${elementText(heading)}`);
    level = own;
  }
  return problems;
}

function nameProblems(): string[] {
  return [...document.querySelectorAll(CONTROLS)].flatMap((control) =>
    isShown(control) && nameOf(control) === '' ? [`no name: ${control.outerHTML.slice(0, 120)}`] : [],
  );
}

/** The accessible name: aria-label, aria-labelledby, text or label. */
function nameOf(control: Element): string {
  const label = control.getAttribute('aria-label');
  if (label !== null) return label.trim();
  const labelledBy = control.getAttribute('aria-labelledby');
  if (labelledBy !== null) return elementText(document.getElementById(labelledBy));
  const isField =
    control instanceof HTMLInputElement ||
    control instanceof HTMLSelectElement ||
    control instanceof HTMLTextAreaElement;
  if (!isField) return elementText(control) || (control.getAttribute('title') ?? '');
  return [...(control.labels ?? [])].map(elementText).join(' ');
}

function elementText(element: Element | null): string {
  return element?.textContent?.trim() ?? '';
}

function isShown(element: Element): boolean {
  return element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
}

function contrastProblems(): string[] {
  const problems = new Set<string>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (element === null || node.textContent?.trim() === '' || !isShown(element) || isExempt(element)) continue;
    const style = getComputedStyle(element);
    const back = backgroundOf(element);
    const ratio = contrast(over(colourOf(style.color), back), back);
    const size = Number.parseFloat(style.fontSize);
    const isLarge = size >= LARGE_PX || (size >= LARGE_BOLD_PX && Number(style.fontWeight) >= BOLD);
    if (ratio >= (isLarge ? LEAST_LARGE_CONTRAST : LEAST_CONTRAST)) continue;
    problems.add(
      `contrast ${ratio.toFixed(2)} of .${element.className} ${style.color}: ${node.textContent?.slice(0, 40)}`,
    );
  }
  return [...problems];
}

/** Disabled, outdated and visually hidden elements are exempt. */
function isExempt(element: Element): boolean {
  return element.closest(':disabled, .visually-hidden, option, .is-stale, .is-older') !== null;
}

function backgroundOf(element: Element): Colour {
  const layers: Colour[] = [];
  for (let at: Element | null = element; at !== null; at = at.parentElement) {
    const layer = colourOf(getComputedStyle(at).backgroundColor);
    layers.push(layer);
    if (layer.a === 1) break;
  }
  const white: Colour = { r: 255, g: 255, b: 255, a: 1 };
  return layers.reduceRight((below, layer) => over(layer, below), white);
}

/** `rgb(…)` and `rgba(…)`, as computed styles give colours. */
function colourOf(text: string): Colour {
  const [r = 0, g = 0, b = 0, a = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
  if (!text.startsWith('rgb')) throw new Error(`unsupported colour: ${text}`);
  return { r, g, b, a };
}

function over(top: Colour, below: Colour): Colour {
  const mix = (one: number, other: number): number => one * top.a + other * (1 - top.a);
  return { r: mix(top.r, below.r), g: mix(top.g, below.g), b: mix(top.b, below.b), a: 1 };
}

function contrast(one: Colour, other: Colour): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

function luminance({ r, g, b }: Colour): number {
  const linear = (channel: number): number => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

function roomProblems(): string[] {
  const over = document.documentElement.scrollWidth - innerWidth;
  return over > 0 ? [`the page is ${over} px wider than the window`] : [];
}

Object.assign(globalThis, { auditPage });
