// Texts in SVG drawings. A drawing has no fonts of its own, so each text names fonts of common systems, and its width
// can be fixed to that in the page.

export type Measure = (text: string, size: number, font: string) => number;

export const SERIF =
  "'Iowan Old Style', Palatino, 'Palatino Linotype', 'Source Serif 4', 'Noto Serif', 'DejaVu Serif', Georgia, serif";
export const SANS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
/** Escapes a text for XML, and removes the characters that XML forbids. */
export const xml = (text: string) =>
  text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, '').replace(/[&<>"']/g, (sign) => ENTITIES[sign]);

/** Returns an attribute that fixes a text's width, at most `most`, for viewers without the font. */
export const fixed = (
  words: string,
  size: number,
  measure: Measure | undefined,
  { font = SERIF, most = Infinity }: { font?: string; most?: number } = {},
) => {
  const width = Math.min(measure?.(words, size, font) ?? 0, most);
  return width > 0 ? ` textLength="${width.toFixed(1)}" lengthAdjust="spacingAndGlyphs"` : '';
};
