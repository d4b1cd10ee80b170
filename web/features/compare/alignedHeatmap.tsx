// A picture on a grid in which the tokens of two runs share rows and columns. It is one of two pictures side by side,
// or the picture of the difference.

import { useEffect, useRef } from 'preact/hooks';
import { RAMP } from '../../drawing/colourRamp.ts';
import { type Aligned, type RunPair, SIGNED, type Side, weightIn } from '../../drawing/tokenPairs.ts';
import type { Cell } from '../../drawing/types.ts';
import { ARROW_STEPS, nextCell } from '../../model/nextCell.ts';
import { cellText, signed, weightText } from '../../model/numbers.ts';
import { spokenName } from '../../model/tokens.ts';
import { keyLabel, labelGeometry, ReadMarks, ReadNames } from '../../parts/matrixLabels.tsx';
import { useSession } from '../../store/context.ts';
import { MIN_FIGURE_CELL, MIN_LABEL_CELL } from '../../ui/layout.ts';
import { PALETTE, type Theme } from '../../ui/palette.ts';
import { px } from '../../ui/px.ts';
import type { AlignedPlan } from './alignedLayout.ts';
import { paintAligned } from './paintAligned.ts';
import { type CellPair, usePointing, useTexts } from './twoRuns.ts';

export type AlignedPicture = {
  plan: AlignedPlan;
  x: number;
  /** top edge of the first row */
  y: number;
  /** of the queries */
  names: string[];
  keys: string[];
  /** of the grid */
  rows: Pick<Aligned, 'n'>;
  columns: Pick<Aligned, 'n'>;
  rowOf: (t: number) => number;
  columnOf: (s: number) => number;
  /** true if cells above the diagonal are drawn */
  full: boolean;
  /** of a cell, undefined if the cell does not exist */
  value: (t: number, s: number) => number | undefined;
  /** true if only one run has a weight in the cell, which is then drawn as a dot */
  isUnpaired?: (t: number, s: number) => boolean;
  isDifference?: boolean;
  /** true if the other picture has the labels of the rows */
  hideRows?: boolean;
  /** true for the label of a row that only the pinned run has */
  isFaint?: (t: number) => boolean;
  /** for a screen reader */
  label: string;
  runs: RunPair;
  read: Cell | null | undefined;
  /** a cell of this picture in the tokens of both runs */
  pairOf: (cell: Cell) => CellPair;
};

export function Matrix(picture: AlignedPicture) {
  const { plan, x, y, label, isDifference = false, hideRows } = picture;
  const { matrixWidth, matrixHeight, cell } = plan;
  const pointing = usePointing();
  const theme: Theme = useSession().theme.value;
  const canvas = useRef(null as HTMLCanvasElement | null);
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

const hasCell = ({ names, keys }: AlignedPicture, cell: Cell | null | undefined): cell is Cell =>
  Boolean(cell) && isWithin((cell as Cell).t, names.length) && isWithin((cell as Cell).s, keys.length);
const isWithin = (i: number, count: number) => i >= 0 && i < count;

/** Returns handlers for pointer and keyboard, which read a cell in both runs. */
function useAlignedInput(picture: AlignedPicture, canvas: { current: HTMLCanvasElement | null }) {
  const { plan, names, keys, full, value, isUnpaired, rowOf, columnOf, pairOf, read } = picture;
  const session = useSession();
  const pointing = usePointing();
  const announce = useAnnouncement(picture);
  const cellAt = (event: PointerEvent): Cell | null => {
    const box = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    const [column, row] = [event.clientX - box.left, event.clientY - box.top].map((from) =>
      Math.floor(from / plan.cell),
    );
    // The token is searched for, because in a grid with a gap the row of a token may differ from its index.
    const t = names.findIndex((_, i) => rowOf(i) === row);
    const s = keys.findIndex((_, i) => columnOf(i) === column);
    return t >= 0 && s >= 0 && (value(t, s) !== undefined || isUnpaired?.(t, s)) ? { t, s } : null;
  };
  return {
    point(event: PointerEvent) {
      if (event.pointerType === 'touch') return;
      const found = cellAt(event);
      if (found) pointing.point(pairOf(found));
      else pointing.leave();
    },
    press(event: PointerEvent) {
      const found = cellAt(event);
      if (found) pointing.hold(pairOf(found));
    },
    onKey(event: KeyboardEvent) {
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

/** Returns a function that announces to a screen reader the weights of a cell in both runs. */
function useAnnouncement({ names, keys, runs, pairOf }: AlignedPicture) {
  const session = useSession();
  const texts = useTexts();
  const weightOf = (side: Side | null, cell: Cell) => {
    const weight = side ? weightIn(side, true, cell) : undefined;
    return weight === undefined ? texts.nowhere : weightText(weight);
  };
  return (cell: Cell) => {
    const pair = pairOf(cell);
    const [query, key] = [spokenName(names, cell.t), spokenName(keys, cell.s)];
    session.announce(texts.both(query, key, weightOf(runs.now, pair.now), weightOf(runs.old, pair.old)));
  };
}

const columnTopOf = ({ plan, y, names, full, rowOf }: AlignedPicture, s: number) =>
  y + (full ? 0 : (rowOf(Math.min(s, names.length - 1)) ?? 0) * plan.cell);

function AlignedLabels(picture: AlignedPicture) {
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

/** Marks the cell that is read: lines from its two labels, a frame, and the values of its row. */
function ReadCell(picture: AlignedPicture & { read: Cell }) {
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

/** The values of the row that is read, as numbers in the cells. */
function RowFigures({
  plan,
  x,
  y,
  keys,
  value,
  isDifference,
  rowOf,
  columnOf,
  read: { t, s },
}: AlignedPicture & { read: Cell }) {
  const theme: Theme = useSession().theme.value;
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

/** Returns a difference as a text such as +.52; 0 for a difference that is not visible. */
const differenceText = (d: number) =>
  Number.isNaN(d) ? '' : Math.abs(d) < 0.005 ? '0' : signed(d).replace(/0\./, '.').replace('1.00', '1.0');
