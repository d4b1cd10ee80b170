// Paints the cells of a trace on a canvas.

import type { GridPart } from '../../../src/js/analysis/patching/patchGrid.ts';
import { SIGNED } from '../../drawing/tokenPairs.ts';
import type { Trace } from '../../model/trace/places.ts';
import type { Theme } from '../../ui/palette.ts';
import { cellAt, figureOf, shownShare } from './shares.ts';
import type { Layout } from './traceLayout.ts';

/** The colours of text on light and on dark cells. */
const [DARK_INK, LIGHT_INK] = ['#1a181e', '#ffffff'];
/** Minimum height of a cell with a number, and the width of a digit as a share of the font size. */
const [MIN_FIGURE, LETTER] = [13, 0.62];

/**
 * Paints all places of some parts: a colour, or a dot while not measured, and a number if there is room. places: by
 * part; ink: colour of dots; font, size: of numbers.
 */
export function paintCells(
  context: CanvasRenderingContext2D,
  trace: Trace,
  layout: Layout,
  {
    parts,
    places,
    theme,
    ink,
    font,
    size,
  }: { parts: readonly GridPart[]; places: readonly number[]; theme: Theme; ink: string; font: string; size: number },
) {
  const colours = SIGNED[theme];
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const part of parts)
    for (let layer = 0; layer < trace.layers; layer++)
      for (const place of places) {
        const box = layout.boxOf({ part, layer, place });
        if (!box) continue;
        const cell = cellAt(trace, { part, layer, place });
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        if (!cell) {
          context.fillStyle = ink;
          context.fillRect(Math.round(x) - 1, Math.round(y) - 1, 2, 2);
          continue;
        }
        const share = shownShare(cell.share);
        context.fillStyle = colours.css(share);
        context.fillRect(box.x, box.y, box.width, box.height);
        const figure = figureOf(cell.share, part === parts[0] && part !== 'head');
        if (!figure || box.height < MIN_FIGURE || box.width < figure.length * LETTER * size + 4) continue;
        context.font = `${size}px ${font}`;
        context.fillStyle = colours.isLight(share) ? DARK_INK : LIGHT_INK;
        context.fillText(figure, x, y + 0.5);
      }
}
