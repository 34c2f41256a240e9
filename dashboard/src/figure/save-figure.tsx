/** Saves a marked answer as a picture for a paper, in light or dark colours; what draws it is loaded on the first use. */
import { useState } from 'preact/hooks';
import { saveBlob } from '../display/save-blob.ts';
import { shownTheme } from '../settings/theme.ts';
import type { FigureAnswer } from './answer-figure.ts';

const COLOURS = ['light', 'dark'] as const;
type Colours = (typeof COLOURS)[number];

/** @param name of the file, without its ending. */
export function SaveFigure({ answer, name }: { answer: FigureAnswer; name: string }) {
  const [colours, setColours] = useState<Colours>(shownTheme.get());
  const [hasFailed, setFailed] = useState(false);
  const save = (format: 'svg' | 'png') => (): void => {
    setFailed(false);
    import('./draw-figure.ts')
      .then(({ svgOf, pngOf }) => (format === 'svg' ? svgOf(answer, colours) : pngOf(answer, colours)))
      .then(
        (picture) => saveBlob(`${name}.${format}`, picture),
        () => setFailed(true),
      );
  };
  return (
    <div class="actions">
      {hasFailed && <span role="alert">The picture was not drawn.</span>}
      <label class="inline-field">
        <span class="visually-hidden">Colours of the picture</span>
        <select
          value={colours}
          onChange={(event) => {
            const chosen = COLOURS.find((one) => one === event.currentTarget.value);
            if (chosen !== undefined) setColours(chosen);
          }}
        >
          {COLOURS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <button type="button" onClick={save('svg')}>
        Save as SVG
      </button>
      <button type="button" onClick={save('png')}>
        PNG
      </button>
    </div>
  );
}
