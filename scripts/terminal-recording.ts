/** Records what a program prints, with its colours and its times, and draws it as an SVG that plays once. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { escaped } from '../src/runs/chart.ts';

export type RecordedLine = {
  /** With the escape sequences of its colours. */
  readonly text: string;
  /** Since the program was started. */
  readonly at_ms: number;
};

/**
 * Runs a Node script in colour until it prints a line that `isEnd` accepts, which is not recorded, or until it ends.
 * @throws Error if the script fails before.
 */
export async function recordedLines(
  script: string,
  cwd: string,
  isEnd: (text: string) => boolean,
): Promise<RecordedLine[]> {
  const child = spawn(process.execPath, [script], {
    cwd,
    env: { ...process.env, FORCE_COLOR: '1', COLUMNS: '100' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines: RecordedLine[] = [];
  const began = performance.now();
  for await (const text of createInterface(child.stdout)) {
    if (isEnd(text)) {
      // It cleans up after the signal.
      child.kill('SIGTERM');
      await exited;
      return lines;
    }
    lines.push({ text, at_ms: performance.now() - began });
  }
  const code = await exited;
  if (code !== 0) throw new Error(`${script} ended with ${code} before what is recorded was printed`);
  return lines;
}

const THEME_COLOURS = {
  light: { page: '#ffffff', line: '#d5dae1', ink: '#1b1f24', 31: '#b3261e', 32: '#1a7f45', 33: '#8a5300' },
  dark: { page: '#0d1117', line: '#30363d', ink: '#e6edf3', 31: '#ff8078', 32: '#56d38b', 33: '#e3b341' },
} as const;
export type Theme = keyof typeof THEME_COLOURS;

const LINE_PX = 18;
const CHAR_PX = 7.85;
const MARGIN_PX = 16;
/** A line is shown at the latest this long after the one before it: a start takes seconds in which nothing happens. */
const LONGEST_PAUSE_MS = 700;
/** A line of a table appears after the one before it, although a program prints both at once. */
const SHORTEST_PAUSE_MS = 90;

/** The lines as an SVG, after the prompt and the command that printed them. */
export function terminalSvg(command: string, lines: readonly RecordedLine[], theme: Theme): string {
  const colours = THEME_COLOURS[theme];
  const prompt: RecordedLine = { text: `\u001b[2m$\u001b[22m \u001b[1m${command}\u001b[22m`, at_ms: 0 };
  const all = [prompt, ...lines];
  const widest = Math.max(...all.map(({ text }) => text.replaceAll(SGR, '').length));
  const [width, height] = [Math.ceil(widest * CHAR_PX + 2 * MARGIN_PX), all.length * LINE_PX + 2 * MARGIN_PX];
  let shown_ms = 0;
  let before_ms = 0;
  const texts = all.map(({ text, at_ms }, position) => {
    if (position > 0) shown_ms += Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, at_ms - before_ms));
    before_ms = at_ms;
    const y = MARGIN_PX + (position + 0.75) * LINE_PX;
    const delay = position === 0 ? '' : ` style="animation-delay:${(shown_ms / 1000).toFixed(2)}s"`;
    return `<text x="${MARGIN_PX}" y="${y}"${delay}>${spans(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>What ${escaped(command)} prints</title>
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:${colours.ink};\
animation:show .01s both}@keyframes show{from{opacity:0}}.b{font-weight:600}.d{opacity:.7}.r{fill:${colours[31]}}\
.g{fill:${colours[32]}}.y{fill:${colours[33]}}@media(prefers-reduced-motion:reduce){text{animation:none}}</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="${colours.page}" stroke="${colours.line}"/>
${texts.join('\n')}
</svg>
`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const SGR = /\u001b\[(\d+)m/gu;

/** Classes of the colours and weights that src and cli print, and what each is ended by. */
const CLASSES: Readonly<Record<string, string>> = { 1: 'b', 2: 'd', 31: 'r', 32: 'g', 33: 'y' };

function spans(text: string): string {
  // Parts and codes in turn: text, code, text, …
  const parts = text.split(SGR);
  let svg = '';
  let style: string | undefined;
  for (const [position, part] of parts.entries()) {
    if (position % 2 === 1) style = CLASSES[part];
    else if (part !== '')
      svg += style === undefined ? escaped(part) : `<tspan class="${style}">${escaped(part)}</tspan>`;
  }
  return svg;
}
