// The large picture: cells, lines or patches; what the pointer and the arrow keys do on it; its scale.

import { PAINT_STRIDE } from '../model/examples.js';
import { formatNumber } from '../model/scale.js';
import { NOT_FINITE } from '../model/shrink.js';
import { follow, mark, paint, regionOf, step, zoom } from '../model/state.js';
import { cellAt, drawHead, drawLegend, layOut } from './heatmap.js';
import { drawLines, tokenAt } from './lines.js';
import { drawPatches, patchAt, patchStep } from './patches.js';

/** The large picture fits a laptop's screen together with what is said of it. */
const MOST_HEIGHT = 600;
const ZOOM = 2;

export function createFigure({ $, store, become, update }) {
  const large = $('large');
  /** Where everything lies in what is drawn. */
  let places = null;
  let drawnScale = '';
  /** While a pointer paints: whether it hides. */
  let brush = null;

  /** @type {() => [T: number, S: number]} */
  const sizes = () => store.get().shown.problem?.shape.slice(2) ?? [0, 0];
  const kindOf = ({ state, shown: { problem, lines }, compare }) => {
    if (compare !== 'none') return 'cells';
    if (state.view === 'grid' && problem.image && problem.self) return 'grid';
    return state.view === 'lines' && lines ? 'lines' : 'cells';
  };

  function drawCells({ state, strings, shown, compare, pinned, scale, colours, room }) {
    const { problem, picture, pinned: other } = shown;
    const side = compare === 'side' && other;
    const width = side && room > 560 ? (room - 24) / 2 : room;
    const common = { cell: state.cell, also: state.also, scale, width, height: MOST_HEIGHT, colours };
    places = drawHead(large, picture, { queries: problem.queries, keys: problem.keys, ...common });
    $('before').hidden = !side;
    if (!side) return;
    const { queries, keys } = other.problem;
    drawHead($('pinned-picture'), other.picture, { queries, keys, ...common });
    const name = strings.pinned(strings.settings(pinned));
    $('before-name').textContent = name;
    $('pinned-picture').setAttribute('aria-label', name);
  }

  function drawScale(scale) {
    if (drawnScale === scale.key) return;
    drawnScale = scale.key;
    drawLegend($('legend'), scale, 224, 14);
    $('ticks').replaceChildren(
      ...scale.ticks.map(({ value }) => {
        const tick = document.createElement('span');
        tick.textContent = formatNumber(Number(value.toPrecision(2)));
        return tick;
      }),
    );
  }

  /** The worker gives as many cells as there are pixels; how many these are is known once tokens are. */
  function fitPixels({ shown, room, large: before }) {
    const { queries, keys } = shown.problem;
    const { picture } = shown;
    const { cellWidth, cellHeight, T, S } = layOut(
      large.getContext('2d'),
      { queries, keys, region: picture.region },
      room,
      MOST_HEIGHT,
    );
    const ratio = globalThis.devicePixelRatio || 1;
    const pixels = {
      rows: Math.max(Math.round(cellHeight * T * ratio), 1),
      columns: Math.max(Math.round(cellWidth * S * ratio), 1),
    };
    const wanted = { rows: Math.min(T, pixels.rows), columns: Math.min(S, pixels.columns) };
    if (wanted.rows === picture.rows && wanted.columns === picture.columns) return;
    if (String(Object.values(pixels)) === String(Object.values(before))) return;
    store.set({ large: pixels });
  }

  function draw(scene) {
    const { state, strings, shown, scale, colours, room, nameOf } = scene;
    const { problem } = shown;
    const name = nameOf(state.head);
    const view = kindOf(scene);
    $('before').hidden = true;
    if (view === 'lines') {
      const chosen = [...new Set([...(state.cell ? [state.cell.query] : []), ...state.also])];
      places = drawLines(large, shown.lines, {
        queries: problem.queries,
        keys: problem.keys,
        region: regionOf(state, ...sizes()),
        chosen,
        width: room,
        colours,
        read: state.cell,
        weight: shown.cell?.weight ?? 0,
      });
    } else if (view === 'grid') {
      places = drawPatches(large, problem.image, shown.cell?.weights ?? null, {
        read: state.cell,
        also: state.also,
        scale,
        width: room,
        height: MOST_HEIGHT,
        colours,
        theme: scene.theme,
      });
    } else {
      drawCells(scene);
      fitPixels(scene);
    }
    large.setAttribute('aria-label', strings.picture(name, ...sizes()));
    $('head-name').textContent = scene.differs ? strings.difference(name) : name;
    $('head-about').textContent = state.off.includes(state.head) ? strings.headOff : scene.about;
    const { queries, keys } = regionOf(state, ...sizes());
    $('zoom-text').textContent =
      queries.to - queries.from < sizes()[0] || keys.to - keys.from < sizes()[1]
        ? strings.zoomed(queries.from + 1, queries.to, keys.from + 1, keys.to)
        : '';
    drawScale(scale);
    $('not-finite').hidden = !shown.picture.values.includes(NOT_FINITE);
    $('not-finite-swatch').style.background = `rgb(${scale.notFinite.colour.join(' ')})`;
  }

  // ---- what a visitor does ----

  /** The cell under the pointer; among lines and patches, the token with the key that it weighs most. */
  function pointed(event) {
    const box = large.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { state } = store.get();
    const strongest = (query) => ({ query, key: null });
    if ('skip' in places) {
      const token = patchAt(places, x, y);
      if (token === null) return null;
      return state.locked ? { query: state.cell.query, key: token } : strongest(token);
    }
    if ('cellWidth' in places) return cellAt(places, x, y);
    const { queries, keys } = regionOf(state, ...sizes());
    const token = tokenAt(places, x, y, queries.to - queries.from, keys.to - keys.from);
    if (!token) return null;
    if (token.side === 'key') return state.cell && { query: state.cell.query, key: keys.from + token.index };
    return strongest(queries.from + token.index);
  }

  const isPainted = ({ query, key }) => store.get().state.painted.includes(query * PAINT_STRIDE + key);
  const same = (a, b) => a?.query === b?.query && (a?.key === b?.key || a?.key === null);
  const ready = () => places !== null && store.get().shown.picture && !$('pictures').hidden;
  /** Where only a query is pointed at, the key that it weighs most is read. */
  const cellFor = (cell) => (cell.key === null ? { query: cell.query, key: strongestKey(cell.query) } : cell);

  function strongestKey(query) {
    const { picture, lines } = store.get().shown;
    const link = kindOf(store.get()) === 'lines' && lines.filter((one) => one.query === query)[0];
    if (link) return link.key;
    // Patches are few enough that every one has a cell of its own.
    const { rows, columns, values, region } = picture;
    const row = query - region.queries.from;
    if (row < 0 || row >= rows || region.queries.to - region.queries.from !== rows) return 0;
    const weights = values.subarray(row * columns, (row + 1) * columns);
    let most = 0;
    weights.forEach((w, s) => w > (weights[most] || -1) && (most = s));
    return region.keys.from + most;
  }

  large.onpointermove = (event) => {
    if (!ready()) return;
    const cell = pointed(event);
    const { state } = store.get();
    if (!cell || same(cell, state.cell)) return;
    if (brush !== null) become(paint({ ...state, cell }, cell, brush));
    else if (!state.locked || 'skip' in places) update({ cell: cellFor(cell) });
  };
  large.onpointerdown = (event) => {
    if (!ready() || event.button !== 0) return;
    const cell = pointed(event);
    if (!cell) return;
    const { state } = store.get();
    if (event.shiftKey) return become(mark(state, cell.query));
    if (store.get().painting && 'cellWidth' in places) {
      brush = !isPainted(cell);
      large.setPointerCapture(event.pointerId);
      return become(paint({ ...state, cell }, cell, brush));
    }
    const again = state.locked && (same(cell, state.cell) || 'skip' in places);
    update({ cell: again ? state.cell : cellFor(cell), locked: !again });
  };
  large.onpointerup = large.onpointercancel = () => (brush = null);
  large.addEventListener(
    'wheel',
    (event) => {
      if (!(event.ctrlKey || event.metaKey) || !ready() || !('cellWidth' in places)) return;
      event.preventDefault();
      become(zoom(store.get().state, event.deltaY < 0 ? 1.25 : 0.8, pointed(event), ...sizes()));
    },
    { passive: false },
  );

  const zoomBy = (factor) => () =>
    ready() && become(zoom(store.get().state, factor, store.get().state.cell, ...sizes()));
  $('zoom-in').onclick = zoomBy(ZOOM);
  $('zoom-out').onclick = zoomBy(1 / ZOOM);
  $('zoom-all').onclick = () => update({ region: [] });

  /** Where an arrow key leads. */
  function walked(key) {
    const {
      state,
      shown: { problem },
    } = store.get();
    if (kindOf(store.get()) !== 'grid' || !state.cell) return step(state.cell, key, ...sizes());
    const at = patchStep(problem.image, state.locked ? state.cell.key : state.cell.query, key);
    if (at === null) return null;
    return state.locked ? { query: state.cell.query, key: at } : { query: at, key: strongestKey(at) };
  }

  large.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !ready()) return;
    const { state } = store.get();
    const act = {
      Escape: () => update({ locked: false, also: [] }),
      '+': zoomBy(ZOOM),
      '=': zoomBy(ZOOM),
      '-': zoomBy(1 / ZOOM),
      0: () => update({ region: [] }),
    }[event.key];
    if (act) {
      event.preventDefault();
      return act();
    }
    if ((event.key === ' ' || event.key === 'Enter') && state.cell) {
      event.preventDefault();
      if (event.shiftKey) return become(mark(state, state.cell.query));
      return store.get().painting
        ? become(paint(state, state.cell, !isPainted(state.cell)))
        : update({ locked: !state.locked });
    }
    const cell = walked(event.key);
    if (!cell) return;
    event.preventDefault();
    become(follow({ ...state, cell }, cell, ...sizes()));
  };

  return { draw };
}
