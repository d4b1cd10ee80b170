// Labels of the rows and columns of a matrix, and the marks of the cell that is read.

import type { Grid, Picture } from '../drawing/types.ts';
import { isAhead } from '../model/derivation.ts';
import { cellText } from '../model/numbers.ts';
import { useSession } from '../store/context.ts';
import { MIN_FIGURE_CELL, MIN_LABEL_CELL } from '../ui/layout.ts';
import { px } from '../ui/px.ts';
import { useColours } from './useColours.ts';

/** Pixels from the left edge of a column to its label along the diagonal. usePicture reserves room for this label. */
export const KEY_LABEL_INSET = 2;

/** Returns the geometry by which heatmap.css positions labels and marks. */
export const labelGeometry = ({ x, cell, gap, fontSize }: Pick<Grid, 'x' | 'cell' | 'gap' | 'fontSize'>) =>
  px({ fontSize, '--x': x, '--cell': cell, '--box': Math.max(cell - gap, 1) });

/**
 * Returns class and style of a key's label: along the diagonal, or in a full matrix above the middle of its column,
 * slanted if it is too long. `left`: of the column; `top`: of its first cell.
 */
export const keyLabel = ({ cell, full, level }: Pick<Grid, 'cell' | 'full' | 'level'>, left: number, top: number) => ({
  class: `key-label ${level ? 'level' : full ? 'slanted' : ''}`,
  style: px({ left: left + (full ? cell / 2 : KEY_LABEL_INSET), '--top': top }),
});

/** Writes the names of queries to the left of their rows, and the names of keys at the first cells of their columns. */
export function Labels({ picture }: { picture: Picture }) {
  const { names, unmatchedRows, x, y, cell, full } = picture;
  const session = useSession();
  // A spectrogram labels the columns with times, so keys have no names.
  const keys = picture.foot > 0 ? [] : picture.keys;
  const row = (t: number) => () => session.setHover({ t, s: -1 });
  const column = (s: number) => () => session.setHover({ t: Math.max(session.cell.value?.t ?? 0, full ? 0 : s), s });
  const leave = () => session.setHover(null);
  return (
    <div class="labels" lang="en" style={labelGeometry(picture)} aria-hidden="true">
      {names.map((name, t) => (
        <span
          key={`r${t}`}
          class={`row-label ${unmatchedRows.includes(t) ? 'faint' : ''}`}
          style={px({ top: y + t * cell })}
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

/** Marks the cell that is read: lines from its labels, a frame where they meet, and the row's weights as numbers. */
export function ReadCell({ picture }: { picture: Picture }) {
  const session = useSession();
  const read = session.cell.value;
  const { weights, names, keys, T, S, x, y, cell, full } = picture;
  if (!read || read.t >= T || read.s >= S) return null;
  const { t, s } = read;
  const isMasked = isAhead(weights[t * S + s], t, s, full);
  const position = { left: x + s * cell, top: y + t * cell, columnTop: y + (full ? 0 : s * cell) };
  return (
    <div class="cross" lang="en" style={labelGeometry(picture)} aria-hidden="true">
      <ReadMarks x={x} {...position} isMasked={isMasked} />
      {cell >= MIN_FIGURE_CELL && <RowFigures picture={picture} t={t} s={s} />}
      <ReadNames row={names[t]} column={keys[s]} grid={picture} {...position} />
    </div>
  );
}

/** The lines from both labels, and the frame of the cell. A masked cell has only the line of its row. */
export function ReadMarks({
  x,
  left,
  top,
  columnTop,
  isMasked = false,
}: {
  x: number;
  left: number;
  top: number;
  /** top edge of the first cell in the column */
  columnTop: number;
  isMasked?: boolean;
}) {
  return (
    <>
      {!isMasked && <span class="red" style={px({ left, top: columnTop, height: Math.max(top - columnTop, 0) })} />}
      <span class="blue" style={px({ left: x, top, width: isMasked ? 0 : Math.max(left - x, 0) })} />
      {!isMasked && <span class="cell-frame" style={px({ left, top })} />}
    </>
  );
}

/** Minimum weight that is shown as a number. */
const MIN_FIGURE = 0.02;

/** The weights of a row as numbers, without small and masked weights. */
function RowFigures({
  picture: { run, weights, keys, S, x, y, cell, full },
  t,
  s,
}: {
  picture: Picture;
  t: number;
  s: number;
}) {
  const ramp = useColours();
  return keys.map((_, k) => {
    const weight = weights[t * S + k];
    const isMasked = run.values?.scores[t * S + k] === Number.NEGATIVE_INFINITY || isAhead(weight, t, k, full);
    // A small weight is readable only from its colour.
    return isMasked || (weight < MIN_FIGURE && k !== s) ? null : (
      <span
        key={k}
        class={`figure ${k === s ? 'here' : ''} ${ramp.isLight(weight) ? 'dark' : 'pale'}`}
        style={px({ left: x + k * cell, top: y + t * cell })}
      >
        {cellText(weight)}
      </span>
    );
  });
}

/** The names of the row and the column that are read, at the positions of their labels. */
export function ReadNames({
  row,
  column,
  grid,
  left,
  top,
  columnTop,
}: {
  /** null if another picture has the label of the row */
  row: string | null;
  column: string;
  grid: Pick<Grid, 'cell' | 'full' | 'level'>;
  left: number;
  top: number;
  /** top edge of the first cell in the column */
  columnTop: number;
}) {
  const label = keyLabel(grid, left, columnTop);
  return (
    <>
      {row !== null && (
        <span class={`row-label is-query ${grid.cell < MIN_LABEL_CELL ? 'small' : ''}`} style={px({ '--top': top })}>
          {row}
        </span>
      )}
      <span class={`${label.class} is-key`} style={label.style}>
        {column}
      </span>
    </>
  );
}
