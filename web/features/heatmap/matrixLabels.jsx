// Labels of the rows and columns of a matrix, and the marks of the cell that is read.

import { cellText, px, useSession } from '../../ui/context.js';
import { FIGURES, LABELS } from '../../ui/layout.js';
import { isAhead } from '../reading/derivation.js';
import { BOLD_WIDTH, textWidth } from './textWidth.js';
import { useColours } from './useColours.js';

/** @import { Grid, Picture } from './types.js' */

/** From the left edge of a column to its label along the diagonal. */
export const KEY_LABEL_INSET = 2;
/** Line height of a key's label, which is above the first cell of its column. */
const KEY_LINE_HEIGHT = 1.32;
/** From a row's label to the matrix; less if a cell is too small for labels. */
const [ROW_LABEL_GAP, SMALL_ROW_LABEL_GAP] = [9, 6];
/** A label beside small cells may reach this far into the page's margin. */
const MARGIN_FOR_LABEL = 12;
/** Line height of a row's label beside cells that are smaller. */
const SMALL_LINE = 18;

/**
 * Class and style of a key's label: along the diagonal, or above the middle of its column in a full matrix, slanted if
 * it is too long.
 * @param {Pick<Grid, 'cell' | 'fontSize' | 'full' | 'level'>} grid
 * @param {number} left edge of the column
 * @param {number} top edge of its first cell
 */
export const keyLabel = ({ cell, fontSize, full, level }, left, top) => ({
  class: `key-label ${level ? 'level' : full ? 'slanted' : ''}`,
  style: px({ left: left + (full ? cell / 2 : KEY_LABEL_INSET), top: top - fontSize * KEY_LINE_HEIGHT - 1 }),
});

/** Queries to the left of their rows; keys at the first cell of their columns. @param {{ picture: Picture }} props */
export function Labels({ picture }) {
  const { names, keys, unmatchedRows, x, y, cell, fontSize, full } = picture;
  const session = useSession();
  const row = (/** @type {number} */ t) => () => (session.hover.value = { t, s: -1 });
  const column = (/** @type {number} */ s) => () =>
    (session.hover.value = { t: Math.max(session.cell.value?.t ?? 0, full ? 0 : s), s });
  const leave = () => (session.hover.value = null);
  return (
    <div class="labels" lang="en" style={px({ fontSize })} aria-hidden="true">
      {names.map((name, t) => (
        <span
          key={`r${t}`}
          class={`row-label ${unmatchedRows.includes(t) ? 'faint' : ''}`}
          style={px({ width: x - ROW_LABEL_GAP, top: y + t * cell, height: cell, lineHeight: `${cell}px` })}
          onPointerEnter={row(t)}
          onPointerLeave={leave}
          onClick={() => session.look({ cell: { t, s: session.cell.value?.s ?? 0 } })}
        >
          {name}
        </span>
      ))}
      {keys.map((name, s) => (
        <span
          key={`c${s}`}
          {...keyLabel(picture, x + s * cell, y + (full ? 0 : s * cell))}
          onPointerEnter={column(s)}
          onPointerLeave={leave}
        >
          {name}
        </span>
      ))}
    </div>
  );
}

/**
 * Marks of the cell that is read: a line from the query's label, a line from the key's label, a frame where they meet,
 * and the weights of that row in figures.
 * @param {{ picture: Picture }} props
 */
export function ReadCell({ picture }) {
  const session = useSession();
  const read = session.cell.value;
  const { weights, names, keys, T, S, x, y, cell, gap, full } = picture;
  if (!read || read.t >= T || read.s >= S) return null;
  const { t, s } = read;
  const [left, top] = [x + s * cell, y + t * cell];
  const columnTop = y + (full ? 0 : s * cell);
  const masked = isAhead(weights[t * S + s], t, s, full);
  const box = Math.max(cell - gap, 1);
  const lineWidth = Math.max((masked ? 0 : left) - x + 4, 4);
  return (
    <div class="cross" lang="en" aria-hidden="true">
      {!masked && (
        <span class="red" style={px({ left: left - 1, top: columnTop, height: Math.max(top - columnTop, 0) })} />
      )}
      <span class="blue" style={px({ left: x - 4, top: top - 1, width: lineWidth })} />
      {cell >= FIGURES && <RowFigures picture={picture} t={t} s={s} />}
      {!masked && (
        <span class="cell-frame" style={px({ left: left - 2, top: top - 2, width: box + 4, height: box + 4 })} />
      )}
      <ReadNames row={names[t]} column={keys[s]} grid={picture} left={left} top={top} columnTop={columnTop} />
    </div>
  );
}

/**
 * The weights of a row in figures, without the masked ones.
 * @param {{ picture: Picture, t: number, s: number }} props
 */
function RowFigures({ picture: { run, weights, keys, S, x, y, cell, gap, full }, t, s }) {
  const ramp = useColours();
  const box = Math.max(cell - gap, 1);
  return keys.map((_, k) => {
    const weight = weights[t * S + k];
    const masked = run.values?.scores[t * S + k] === Number.NEGATIVE_INFINITY || isAhead(weight, t, k, full);
    return masked ? null : (
      <span
        key={k}
        class={`figure ${k === s ? 'here' : ''} ${ramp.isLight(weight) ? 'dark' : 'pale'}`}
        style={px({ left: x + k * cell, top: y + t * cell, width: box, lineHeight: `${box}px`, '--cell': cell })}
      >
        {cellText(weight)}
      </span>
    );
  });
}

/**
 * Names of the row and the column that are read, at their labels.
 * @param {object} props
 * @param {string | null} props.row null if the row is labelled at another picture
 * @param {string} props.column
 * @param {Pick<Grid, 'x' | 'cell' | 'fontSize' | 'full' | 'level'>} props.grid
 * @param {number} props.left of the cell
 * @param {number} props.top of the cell
 * @param {number} props.columnTop of the first cell of its column
 */
export function ReadNames({ row, column, grid, left, top, columnTop }) {
  const { x, cell, fontSize } = grid;
  const label = keyLabel(grid, left, columnTop);
  const hasLabels = cell >= LABELS;
  const lineHeight = hasLabels ? cell : SMALL_LINE;
  const labelWidth = (/** @type {string} */ name) =>
    Math.max(x - SMALL_ROW_LABEL_GAP, BOLD_WIDTH * textWidth(name, fontSize) - MARGIN_FOR_LABEL);
  return (
    <>
      {row !== null && (
        <span
          class="row-label asks"
          style={px({
            fontSize,
            left: 'auto',
            right: `calc(100% - ${hasLabels ? x - ROW_LABEL_GAP : labelWidth(row)}px)`,
            top: top + (hasLabels ? 0 : (cell - SMALL_LINE) / 2),
            height: lineHeight,
            lineHeight: `${lineHeight}px`,
          })}
        >
          {row}
        </span>
      )}
      <span class={`${label.class} answers`} style={{ ...label.style, fontSize: `${fontSize}px` }}>
        {column}
      </span>
    </>
  );
}
