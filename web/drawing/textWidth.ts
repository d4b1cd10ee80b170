// Measures the width of a text, in the page's serif letters or in another font.

const SERIF = '"Iowan Old Style", Palatino, "Source Serif", Charter, "Noto Serif", Georgia, "Songti SC", serif';

/** Maximum factor by which bold letters are wider. */
export const BOLD_WIDTH = 1.15;

let context: CanvasRenderingContext2D | null = null;

/** `fontSize`: in CSS pixels. */
export function widthOf(text: string, fontSize: number, font: string) {
  context ??= document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
  context.font = `${fontSize}px ${font}`;
  return context.measureText(text).width;
}

/** Widths by font size and text, stored because measuring takes longer than the rest of a picture's layout. */
const measured: Map<string, number> = new Map();
const MAX_MEASURED = 20_000;

/** `fontSize`: in CSS pixels. */
export function textWidth(text: string, fontSize: number) {
  const key = `${fontSize} ${text}`;
  const known = measured.get(key);
  if (known !== undefined) return known;
  const width = widthOf(text, fontSize, SERIF);
  if (measured.size >= MAX_MEASURED) measured.clear();
  measured.set(key, width);
  return width;
}

export const maxTextWidth = (texts: string[], fontSize: number) =>
  texts.reduce((most, text) => Math.max(most, textWidth(text, fontSize)), 0);
