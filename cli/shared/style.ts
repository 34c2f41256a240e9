/** Colours, or none: NO_COLOR, --no-color and output that is not a terminal get plain text. */
import { styleText } from 'node:util';

export type Colour = 'red' | 'yellow' | 'green' | 'dim' | 'bold';

export type Style = (colour: Colour | null, text: string) => string;

const plain: Style = (_colour, text) => text;

const coloured: Style = (colour, text) =>
  colour === null || text === '' ? text : styleText(colour, text, { validateStream: false });

/** The style for what is written to `stream`. */
export function styleFor(stream: { readonly isTTY?: boolean }, noColorFlag: boolean): Style {
  const refused = noColorFlag || (process.env['NO_COLOR'] ?? '') !== '' || process.env['TERM'] === 'dumb';
  const forced = (process.env['FORCE_COLOR'] ?? '0') !== '0';
  return !refused && (stream.isTTY === true || forced) ? coloured : plain;
}

/** Red, yellow, green by the share of what could be had. */
export function colourOfShare(share: number): Colour {
  if (share >= 0.8) return 'green';
  return share >= 0.5 ? 'yellow' : 'red';
}
