// Measures the width of a text in the page, for a drawing that has no fonts of its own.

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;
/** Returns the width of a text in a font. @type {import('./svg.js').Measure} */
export function widthOf(text, size, font) {
  ruler ??= document.createElement('canvas').getContext('2d');
  if (!ruler) throw new Error('cannot measure texts, because the browser has no 2D canvas');
  ruler.font = `${size}px ${font}`;
  return ruler.measureText(text).width;
}
