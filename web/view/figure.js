// The large picture: cells, lines or patches; what the pointer and the arrow keys do on it; its scale.

import { PAINT_STRIDE } from '../model/examples.js';
import { formatNumber } from '../model/scale.js';
import { follow, mark, paint, regionOf, step, zoom } from '../model/state.js';
import { cellAt, drawHead, drawLegend, layOut } from './heatmap.js';
import { drawLines, tokenAt } from './lines.js';
import { drawPatches, patchAt, patchStep } from './patches.js';

/** The large picture fits a laptop's screen together with what is said of it. */
const MOST_HEIGHT = 600;
const ZOOM = 2;

export function createFigure(page) {
  const { $ } = page;
  const large = $('large');
  /** Where everything lies in what is drawn. */
  let places = null;
  let drawnScale = '';
  /** While a pointer paints: whether it hides. */
  let brush = null;

  const sizes = () => page.shown.problem?.shape.slice(2) ?? [0, 0];
  const kind = () => {
    const {
      state,
      shown: { problem, lines },
    } = page;
    if (page.compare !== 'none') return 'cells';
    if (state.view === 'grid' && problem.image && problem.self) return 'grid';
    return state.view === 'lines' && lines ? 'lines' : 'cells';
  };

  function drawCells(scale, colours, room) {
    const {
      state,
      shown: { problem, picture, held },
    } = page;
    const side = page.compare === 'side' && held;
    const width = side && room > 560 ? (room - 24) / 2 : room;
    const common = { cell: state.cell, also: state.also, scale, width, height: MOST_HEIGHT, colours };
    places = drawHead(large, picture, { queries: problem.queries, keys: problem.keys, ...common });
    $('before').hidden = !side;
    if (!side) return;
    drawHead($('held-picture'), held.picture, { queries: held.problem.queries, keys: held.problem.keys, ...common });
    $('before-name').textContent = page.strings.held(page.strings.settings(page.before));
    $('held-picture').setAttribute('aria-label', page.strings.held(page.strings.settings(page.before)));
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
  function fitPixels() {
    const {
      problem: { queries, keys },
      picture,
    } = page.shown;
    const { room } = page;
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
    if (String(Object.values(pixels)) === String(Object.values(page.large))) return;
    page.large = pixels;
    page.look();
  }

  function draw(scale, colours) {
    const { state, strings, shown } = page;
    const { problem } = shown;
    const { room } = page;
    const name = page.headName(state.head);
    const view = kind();
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
        theme: page.theme(),
      });
    } else {
      drawCells(scale, colours, room);
      fitPixels();
    }
    large.setAttribute('aria-label', strings.picture(name, ...sizes()));
    $('head-name').textContent = page.differs() ? strings.difference(name) : name;
    $('head-about').textContent = state.off.includes(state.head) ? strings.headOff : page.headAbout(state.head);
    const { queries, keys } = regionOf(state, ...sizes());
    $('zoom-text').textContent =
      queries.to - queries.from < sizes()[0] || keys.to - keys.from < sizes()[1]
        ? strings.zoomed(queries.from + 1, queries.to, keys.from + 1, keys.to)
        : '';
    drawScale(scale);
  }

  // ---- what a visitor does ----

  /** The cell under the pointer; among lines and patches, the token with the key that it weighs most. */
  function pointed(event) {
    const box = large.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { state } = page;
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

  const isPainted = ({ query, key }) => page.state.painted.includes(query * PAINT_STRIDE + key);
  const same = (a, b) => a?.query === b?.query && (a?.key === b?.key || a?.key === null);
  const ready = () => places !== null && page.shown.picture && !$('pictures').hidden;
  /** Where only a query is pointed at, the key that it weighs most is read. */
  const cellFor = (cell) => (cell.key === null ? { query: cell.query, key: strongestKey(cell.query) } : cell);

  function strongestKey(query) {
    const { picture, lines } = page.shown;
    const link = kind() === 'lines' && lines.filter((one) => one.query === query)[0];
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
    if (!cell || same(cell, page.state.cell)) return;
    if (brush !== null) page.become(paint({ ...page.state, cell }, cell, brush));
    else if (!page.state.locked || 'skip' in places) page.update({ cell: cellFor(cell) });
  };
  large.onpointerdown = (event) => {
    if (!ready() || event.button !== 0) return;
    const cell = pointed(event);
    if (!cell) return;
    const { state } = page;
    if (event.shiftKey) return page.become(mark(state, cell.query));
    if (page.painting && 'cellWidth' in places) {
      brush = !isPainted(cell);
      large.setPointerCapture(event.pointerId);
      return page.become(paint({ ...state, cell }, cell, brush));
    }
    const again = state.locked && (same(cell, state.cell) || 'skip' in places);
    page.update({ cell: again ? state.cell : cellFor(cell), locked: !again });
  };
  large.onpointerup = large.onpointercancel = () => (brush = null);
  large.addEventListener(
    'wheel',
    (event) => {
      if (!(event.ctrlKey || event.metaKey) || !ready() || !('cellWidth' in places)) return;
      event.preventDefault();
      page.become(zoom(page.state, event.deltaY < 0 ? 1.25 : 0.8, pointed(event), ...sizes()));
    },
    { passive: false },
  );

  const zoomBy = (factor) => () => ready() && page.become(zoom(page.state, factor, page.state.cell, ...sizes()));
  $('zoom-in').onclick = zoomBy(ZOOM);
  $('zoom-out').onclick = zoomBy(1 / ZOOM);
  $('zoom-all').onclick = () => page.update({ region: [] });

  /** Where an arrow key leads. */
  function walked(key) {
    const {
      state,
      shown: { problem },
    } = page;
    if (kind() !== 'grid' || !state.cell) return step(state.cell, key, ...sizes());
    const at = patchStep(problem.image, state.locked ? state.cell.key : state.cell.query, key);
    if (at === null) return null;
    return state.locked ? { query: state.cell.query, key: at } : { query: at, key: strongestKey(at) };
  }

  large.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !ready()) return;
    const { state } = page;
    const act = {
      Escape: () => page.update({ locked: false, also: [] }),
      '+': zoomBy(ZOOM),
      '=': zoomBy(ZOOM),
      '-': zoomBy(1 / ZOOM),
      0: () => page.update({ region: [] }),
    }[event.key];
    if (act) {
      event.preventDefault();
      return act();
    }
    if ((event.key === ' ' || event.key === 'Enter') && state.cell) {
      event.preventDefault();
      if (event.shiftKey) return page.become(mark(state, state.cell.query));
      return page.painting
        ? page.become(paint(state, state.cell, !isPainted(state.cell)))
        : page.update({ locked: !state.locked });
    }
    const cell = walked(event.key);
    if (!cell) return;
    event.preventDefault();
    page.become(follow({ ...state, cell }, cell, ...sizes()));
  };

  return { draw };
}
