// A picture on a grid in which the tokens of two runs share rows and columns. It is one of two pictures side by side,
// or the picture of the difference.

import { useEffect, useRef } from 'preact/hooks';
import { cellText, signed, weightText } from '../../texts/numbers.js';
import { useSession } from '../../ui/context.js';
import { MIN_FIGURE_CELL, MIN_LABEL_CELL } from '../../ui/layout.js';
import { PALETTE } from '../../ui/palette.js';
import { px } from '../../ui/px.js';
import { RAMP } from '../heatmap/colourRamp.js';
import { keyLabel, labelGeometry, ReadMarks, ReadNames } from '../heatmap/matrixLabels.jsx';
import { ARROW_STEPS, nextCell } from '../heatmap/nextCell.js';
import { spokenName } from '../prompt/tokens.js';
import { paintAligned } from './paintAligned.js';
import { SIGNED, weightIn } from './tokenPairs.js';
import { usePointing, useTexts } from './twoRuns.js';

/** @import { Theme } from '../../ui/palette.js' */
/** @import { Cell } from '../heatmap/types.js' */
/** @import { AlignedPlan } from './alignedLayout.js' */
/** @import { Aligned, RunPair, Side } from './tokenPairs.js' */
/** @import { CellPair } from './twoRuns.js' */

/**
 * @typedef {object} AlignedPicture
 * @property {AlignedPlan} plan
 * @property {number} x left edge of the first column
 * @property {number} y top edge of the first row
 * @property {string[]} names of the queries
 * @property {string[]} keys
 * @property {Pick<Aligned, 'n'>} rows of the grid
 * @property {Pick<Aligned, 'n'>} columns
 * @property {(t: number) => number} rowOf the grid's row of a query
 * @property {(s: number) => number} columnOf the grid's column of a key
 * @property {boolean} full true if cells above the diagonal are drawn
 * @property {(t: number, s: number) => number | undefined} value of a cell, undefined if the cell does not exist
 * @property {(t: number, s: number) => boolean} [isUnpaired] true if only one run has a weight in the cell, which is
 *   then drawn as a dot
 * @property {boolean} [isDifference] true if the values are differences
 * @property {boolean} [hideRows] true if the other picture has the labels of the rows
 * @property {(t: number) => boolean} [isFaint] true for the label of a row that only the pinned run has
 * @property {string} label for a screen reader
 * @property {RunPair} runs
 * @property {Cell | null | undefined} read the cell that is read, in the tokens of this picture
 * @property {(cell: Cell) => CellPair} pairOf a cell of this picture in the tokens of both runs
 */

/** @param {AlignedPicture} picture */
export function Matrix(picture) {
  const { plan, x, y, label, isDifference = false, hideRows } = picture;
  const { matrixWidth, matrixHeight, cell } = plan;
  const pointing = usePointing();
  /** @type {Theme} */
  const theme = useSession().theme.value;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const input = useAlignedInput(picture, canvas);
  const colours = isDifference ? SIGNED[theme] : RAMP[theme];
  useEffect(() => {
    if (canvas.current) paintAligned(canvas.current, picture, colours, PALETTE[theme]);
  });
  return (
    <>
      <div
        class="matrix"
        id={hideRows === undefined ? 'picture' : undefined}
        tabIndex={0}
        role="application"
        aria-label={label}
        style={px({ left: x, top: y, width: matrixWidth, height: matrixHeight })}
        onPointerMove={input.point}
        onPointerLeave={pointing.leave}
        onPointerDown={input.press}
        onKeyDown={input.onKey}
      >
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      {cell >= MIN_LABEL_CELL && <AlignedLabels {...picture} />}
      {hasCell(picture, picture.read) && <ReadCell {...picture} read={picture.read} />}
    </>
  );
}

/**
 * Returns true if a cell consists of tokens of a picture.
 * @param {AlignedPicture} picture
 * @param {Cell | null | undefined} cell
 * @returns {cell is Cell}
 */
const hasCell = ({ names, keys }, cell) =>
  Boolean(cell) &&
  isWithin(/** @type {Cell} */ (cell).t, names.length) &&
  isWithin(/** @type {Cell} */ (cell).s, keys.length);
const isWithin = (/** @type {number} */ i, /** @type {number} */ count) => i >= 0 && i < count;

/**
 * Returns handlers for pointer and keyboard, which read a cell in both runs.
 * @param {AlignedPicture} picture @param {{ current: HTMLCanvasElement | null }} canvas
 */
function useAlignedInput(picture, canvas) {
  const { plan, names, keys, full, value, isUnpaired, rowOf, columnOf, pairOf, read } = picture;
  const session = useSession();
  const pointing = usePointing();
  const announce = useAnnouncement(picture);
  /** @param {PointerEvent} event @returns {Cell | null} */
  const cellAt = (event) => {
    const box = /** @type {HTMLCanvasElement} */ (canvas.current).getBoundingClientRect();
    const [column, row] = [event.clientX - box.left, event.clientY - box.top].map((from) =>
      Math.floor(from / plan.cell),
    );
    // The token is searched for, because in a grid with a gap the row of a token may differ from its index.
    const t = names.findIndex((_, i) => rowOf(i) === row);
    const s = keys.findIndex((_, i) => columnOf(i) === column);
    return t >= 0 && s >= 0 && (value(t, s) !== undefined || isUnpaired?.(t, s)) ? { t, s } : null;
  };
  return {
    point(/** @type {PointerEvent} */ event) {
      if (event.pointerType === 'touch') return;
      const found = cellAt(event);
      if (found) pointing.point(pairOf(found));
      else pointing.leave();
    },
    press(/** @type {PointerEvent} */ event) {
      const found = cellAt(event);
      if (found) pointing.hold(pairOf(found));
    },
    onKey(/** @type {KeyboardEvent} */ event) {
      if (!(event.key in ARROW_STEPS) && event.key !== 'Home' && event.key !== 'End') return;
      event.preventDefault();
      event.stopPropagation();
      const [T, S] = [names.length, keys.length];
      const next = nextCell(event.key, hasCell(picture, read) ? read : { t: T - 1, s: 0 }, { T, S, full });
      if (!next) return;
      session.setHover(null);
      pointing.hold(pairOf(next), false);
      announce(next);
    },
  };
}

/**
 * Returns a function that announces to a screen reader the weights of a cell in both runs.
 * @param {AlignedPicture} picture
 */
function useAnnouncement({ names, keys, runs, pairOf }) {
  const session = useSession();
  const texts = useTexts();
  const weightOf = (/** @type {Side | null} */ side, /** @type {Cell} */ cell) => {
    const weight = side ? weightIn(side, true, cell) : undefined;
    return weight === undefined ? texts.nowhere : weightText(weight);
  };
  return (/** @type {Cell} */ cell) => {
    const pair = pairOf(cell);
    const [query, key] = [spokenName(names, cell.t), spokenName(keys, cell.s)];
    session.announce(texts.both(query, key, weightOf(runs.now, pair.now), weightOf(runs.old, pair.old)));
  };
}

/** Returns the top edge of the first cell in a key's column. @param {AlignedPicture} picture @param {number} s */
const columnTopOf = ({ plan, y, names, full, rowOf }, s) =>
  y + (full ? 0 : (rowOf(Math.min(s, names.length - 1)) ?? 0) * plan.cell);

/** @param {AlignedPicture} picture */
function AlignedLabels(picture) {
  const { plan, x, y, names, keys, full, hideRows, isFaint, rowOf, columnOf } = picture;
  const { cell, level } = plan;
  return (
    <div class="labels" style={labelGeometry({ ...plan, x })} aria-hidden="true">
      {!hideRows &&
        names.map((name, t) => (
          <span
            key={`r${t}`}
            class={`row-label ${isFaint?.(t) ? 'faint' : ''}`}
            style={px({ top: y + rowOf(t) * cell })}
          >
            {name}
          </span>
        ))}
      {keys.map((name, s) => (
        <span key={`c${s}`} {...keyLabel({ cell, full, level }, x + columnOf(s) * cell, columnTopOf(picture, s))}>
          {name}
        </span>
      ))}
    </div>
  );
}

/**
 * Marks the cell that is read: draws a line from the query's label, a line from the key's label, a frame around the
 * cell, and the values of the row.
 * @param {AlignedPicture & { read: Cell }} picture
 */
function ReadCell(picture) {
  const { plan, x, y, names, keys, full, hideRows, rowOf, columnOf, read } = picture;
  const { cell, level } = plan;
  const { t, s } = read;
  const position = { left: x + columnOf(s) * cell, top: y + rowOf(t) * cell, columnTop: columnTopOf(picture, s) };
  const rowIsLabelled = hideRows && cell >= MIN_LABEL_CELL;
  return (
    <div class="cross" style={labelGeometry({ ...plan, x })} aria-hidden="true">
      <ReadMarks x={x} {...position} />
      {cell >= MIN_FIGURE_CELL && <RowFigures {...picture} />}
      <ReadNames row={rowIsLabelled ? null : names[t]} column={keys[s]} grid={{ cell, full, level }} {...position} />
    </div>
  );
}

/** The values of the row that is read, as numbers in the cells. @param {AlignedPicture & { read: Cell }} picture */
function RowFigures({ plan, x, y, keys, value, isDifference, rowOf, columnOf, read: { t, s } }) {
  /** @type {Theme} */
  const theme = useSession().theme.value;
  const colours = isDifference ? SIGNED[theme] : RAMP[theme];
  const top = y + rowOf(t) * plan.cell;
  return keys.map((_, k) => {
    const number = value(t, k);
    return number === undefined ? null : (
      <span
        key={k}
        class={`figure ${k === s ? 'here' : ''} ${colours.isLight(number) ? 'dark' : 'pale'}`}
        style={px({ left: x + columnOf(k) * plan.cell, top })}
      >
        {isDifference ? differenceText(number) : cellText(number)}
      </span>
    );
  });
}

/** Returns a difference as a text such as +.52; 0 for a difference that is not visible. @param {number} d */
const differenceText = (d) =>
  Number.isNaN(d) ? '' : Math.abs(d) < 0.005 ? '0' : signed(d).replace(/0\./, '.').replace('1.00', '1.0');
