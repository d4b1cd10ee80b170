// A picture as the model reads it, patch by patch, and beside it the same patches with the weights that the asking one
// gives them. Large where it is what one looks at, small above the matrix and the lines.

import { useEffect, useRef } from 'preact/hooks';
import { px, useSession, weightText } from '../../ui/context.js';
import { gridOf, patchesOf } from '../../ui/layout.js';
import { RAMP } from '../heatmap/colourRamp.js';
import { Corner } from '../heatmap/headTitle.jsx';
import { sized } from '../heatmap/paint.js';
import { weightsOf } from '../reading/derivation.js';
import { isOff } from '../whatif/edits.js';
import { patches as inEnglish } from './patches.en.js';
import { patches as inChinese } from './patches.zh.js';

export { default as styles } from './patches.css';

/** How high the small ones are. */
const HIGH = 62;
const TEXTS = { en: inEnglish, zh: inChinese };

/** Instead of the large picture. */
export function PatchPicture({ width, height, compact = false }) {
  const session = useSession();
  const own = TEXTS[session.language.value];
  const run = session.run.value;
  const cell = session.cell.value;
  const state = session.state.value;
  if (!run?.image || width <= 0) return <div class="picture" style={px({ height })} />;
  const grid = gridOf(run);
  const { size, titled, split, side } = patchesOf({ width, height, ...grid });
  const asks = cell && run.pieces[cell.t].name;
  // A line above a narrow picture has the whole width.
  const line = px({ width: titled && !split ? width : undefined });
  // Tokens that are no patch, but the one that asks.
  const away = run.pieces.slice(0, grid.before).filter((_, t) => t !== cell?.t);
  const ask = (name) => {
    const t = run.pieces.findIndex((piece) => piece.name === name);
    session.look({ cell: { t, s: mostOf(run, t) } });
  };
  const off = isOff(state, state.layer, state.head);
  return (
    <div class={`patches large ${off ? 'off' : ''}`} style={px({ height })}>
      <div class={titled ? 'patches-title' : 'patches-beside'} style={px({ width: titled ? undefined : side })}>
        <Corner
          picture={{ run, above: titled, full: true, x: 0, y: 0, side: titled ? width : side }}
          compact={compact}
        />
      </div>
      <div class={`patches-panes ${split ? 'split' : ''}`}>
        <div style={px({ width: size * grid.columns })}>
          <p style={line}>
            {cell && <b class="query">{asks}</b>} {own.asks} {away.length === 0 && own.point}
            {away.map(({ name }) => (
              <button key={name} type="button" class="word" onClick={() => ask(name)}>
                {own.ask(name)}
              </button>
            ))}
          </p>
          <Pane grid={grid} size={size} photo />
        </div>
        <div style={px({ width: size * grid.columns })}>
          <p style={line}>
            {own.weights[0]} {cell && <b class="query">{asks}</b>} {own.weights[1]}
          </p>
          <Pane grid={grid} size={size} />
        </div>
      </div>
    </div>
  );
}

/** The key that a token looks at most. */
function mostOf(run, t) {
  const row = weightsOf(run, run.layer, run.head).subarray(t * run.S, (t + 1) * run.S);
  return row.reduce((best, w, s) => (w > row[best] ? s : best), 0);
}

/** Both, as high as a line of text and a half. */
export function Patches() {
  const run = useSession().run.value;
  const grid = gridOf(run);
  const size = Math.max(Math.floor(HIGH / grid.rows), 1);
  return (
    <div class="patches small">
      <Pane grid={grid} size={size} photo small />
      <Pane grid={grid} size={size} small />
    </div>
  );
}

/** The picture, in which one asks; or its weights, in which one reads. */
function Pane({ grid: { rows, columns, before }, size, photo = false, small = false }) {
  const session = useSession();
  const words = session.words.value;
  const own = TEXTS[session.language.value];
  const run = session.run.value;
  const cell = session.cell.value;
  const theme = session.theme.value;
  const canvas = useRef(/** @type {any} */ (null));
  const { image, S } = run;
  const [wide, high] = [columns * size, rows * size];
  useEffect(() => {
    const context = sized(canvas.current, wide, high);
    const placeOf = (i) => [(i % columns) * size, Math.floor(i / columns) * size];
    if (photo) drawImage(context, image, wide, high);
    else if (cell) {
      const row = weightsOf(run, run.layer, run.head).subarray(cell.t * S, (cell.t + 1) * S);
      const side = size - (size > 4 ? 1 : 0);
      for (let i = 0; i < rows * columns; i++) {
        context.fillStyle = RAMP[theme].css(row[before + i]);
        context.fillRect(...placeOf(i), side, side);
      }
    }
    if (!cell) return;
    const colours = getComputedStyle(canvas.current);
    const mark = (token, name, inset) => {
      if (token < before) return;
      const [x, y] = placeOf(token - before);
      const strokes =
        size > 12
          ? /** @type {const} */ ([
              ['--bg', 5],
              [name, 3],
            ])
          : /** @type {const} */ ([[name, 2]]);
      for (const [colour, thick] of strokes) {
        context.strokeStyle = colours.getPropertyValue(colour);
        context.lineWidth = thick;
        // At the edge it stands within.
        const [left, top] = [x, y].map((at) => Math.max(at + inset, 1.5));
        const [right, bottom] = [Math.min(x + size - inset, wide - 1.5), Math.min(y + size - inset, high - 1.5)];
        context.strokeRect(left, top, right - left, bottom - top);
      }
    };
    mark(cell.s, '--key', 0);
    // A patch that looks at itself is framed twice.
    mark(cell.t, '--query', cell.t === cell.s ? 4 : 0);
  }, [run.weights, image, cell?.t, cell?.s, run.layer, run.head, theme, size]);
  const at = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((d) => Math.floor(d / size));
    return x >= 0 && y >= 0 && x < columns && y < rows ? before + y * columns + x : -1;
  };
  const cellAt = (token) => (photo ? { t: token, s: mostOf(run, token) } : { t: cell?.t ?? 0, s: token });
  const point = (event) => {
    const token = at(event);
    session.setHover(token < 0 ? null : cellAt(token));
  };
  const hold = (event) => {
    const token = at(event);
    if (token >= 0) session.look({ cell: cellAt(token) });
  };
  const walk = (event) => {
    const step = { ArrowUp: -columns, ArrowDown: columns, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !cell) return;
    event.preventDefault();
    event.stopPropagation();
    const next = cellAt(Math.min(Math.max((photo ? cell.t : cell.s) + step, before), S - 1));
    const weight = weightsOf(run, run.layer, run.head)[next.t * S + next.s];
    session.setHover(null);
    session.look({ cell: next });
    session.announce(words.cell(run.pieces[next.t].name, run.keys[next.s].name, weightText(weight)));
  };
  const label = photo ? words.open.picture(rows, columns) : own.weightsAbout;
  const used = small
    ? { role: /** @type {const} */ ('img'), 'aria-label': label }
    : {
        role: /** @type {const} */ ('application'),
        'aria-label': `${label}. ${own.walk}`,
        id: photo ? 'picture' : undefined,
        tabIndex: 0,
        onPointerDown: hold,
        onKeyDown: walk,
      };
  return (
    <div
      class="pane"
      {...used}
      style={px({ width: wide, height: high })}
      onPointerMove={point}
      onPointerLeave={() => session.setHover(null)}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}

function drawImage(context, image, wide, high) {
  const own = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  own.getContext('2d')?.putImageData(new ImageData(image.data, image.width, image.height), 0, 0);
  context.imageSmoothingQuality = 'high';
  context.drawImage(own, 0, 0, wide, high);
}
