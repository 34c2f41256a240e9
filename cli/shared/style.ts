/** Terminal colours. NO_COLOR, --no-color and output to a file give plain text. */
import { styleText } from 'node:util';
import type { Shell } from './shell.ts';

export type Colour = 'red' | 'yellow' | 'green' | 'dim' | 'bold';

export type Style = (colour: Colour | null, text: string) => string;

const plain: Style = (_colour, text) => text;

const coloured: Style = (colour, text) =>
  colour === null || text === '' ? text : styleText(colour, text, { validateStream: false });

/** The style of the text that is written to `stream`. FORCE_COLOR gives colours without a terminal. */
export function styleFor(
  stream: { readonly isTTY?: boolean },
  noColorFlag: boolean,
  env: Shell['env'] = process.env,
): Style {
  const refused = noColorFlag || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const forced = (env['FORCE_COLOR'] ?? '0') !== '0';
  return !refused && (stream.isTTY === true || forced) ? coloured : plain;
}

/** Green from 0.8 of the possible maximum on, yellow from 0.5 on, else red. */
export function colourOfShare(share: number): Colour {
  if (share >= 0.8) return 'green';
  return share >= 0.5 ? 'yellow' : 'red';
}
