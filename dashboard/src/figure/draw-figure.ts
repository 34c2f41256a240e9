/** Draws a figure with the fonts and colours of this browser: as SVG, or as PNG of twice its size. */
import { answerFigure, cssFontOf, type FigureAnswer, type Palette } from './answer-figure.ts';

type Colours = 'light' | 'dark';

export function svgOf(answer: FigureAnswer, colours: Colours): Blob {
  return new Blob([drawn(answer, colours)], { type: 'image/svg+xml' });
}

const PNG_SCALE = 2;

/** @throws Error if the picture is larger than this browser's canvas. */
export async function pngOf(answer: FigureAnswer, colours: Colours): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(drawn(answer, colours))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth * PNG_SCALE;
  canvas.height = image.naturalHeight * PNG_SCALE;
  contextOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('the picture is too large')) : resolve(blob)));
  });
}

function drawn(answer: FigureAnswer, colours: Colours): string {
  const context = contextOf(document.createElement('canvas'));
  return answerFigure(answer, paletteOf(colours), (text, font) => {
    context.font = cssFontOf(font);
    return context.measureText(text).width;
  });
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('no canvas');
  return context;
}

/** The colours of base.css, each of which is `light-dark(LIGHT, DARK)`. */
function paletteOf(colours: Colours): Palette {
  const styles = getComputedStyle(document.documentElement);
  return (name) => {
    const [, light, dark] = /^light-dark\(([^,]+),([^)]+)\)$/.exec(styles.getPropertyValue(`--${name}`).trim()) ?? [];
    if (light === undefined || dark === undefined) throw new Error(`no colour ${name}`);
    return (colours === 'light' ? light : dark).trim();
  };
}
