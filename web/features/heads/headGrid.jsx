// The model as a diagram: a row of heads for each layer, from the bottom up, and the residual stream on the left.

import { useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { MIN_PICTURE, namesWithRoom, nameWidth, rowsOf, TEXT_HEIGHTS } from '../../ui/layout.js';
import { later } from '../../ui/lazy.jsx';
import { px } from '../../ui/px.js';
import { shownRole } from '../story/shownRoles.js';
import { gapIn } from '../story/steps.js';
import { TRICK } from '../story/trial.js';
import { isEmpty } from '../viewRules.js';
import { SortMenu, useOrder } from './headOrder.jsx';
import { NUMBER_WIDTH, ResidualStream, STREAM_WIDTH } from './residualStream.jsx';
import { roleName } from './roles.js';
import { Thumbnail, walkHeads } from './thumbnail.jsx';

/** @import { About } from '../../store/protocol.js' */
/** @import { Session } from '../../store/session.js' */
/** @import { PointedHead } from '../heatmap/lens.jsx' */

const CutLine = later(() => import('../story/cutLine.jsx'), 'CutLine');
const HeadsLens = later(() => import('../heatmap/lens.jsx'), 'HeadsLens');

/** Height of the line above the heads. */
const TOP_LINE = 30;
/** Number of tokens for which thumbnails are laid out until there is a run. */
const USUAL_TOKENS = 17;

/**
 * The positions of the heads in the room of the model, CSS pixels.
 * @typedef {object} Layout
 * @property {number} size of a thumbnail
 * @property {number} left where the thumbnails begin
 * @property {number} across from one thumbnail to the next
 * @property {number} down from one row to the next
 * @property {number} spare the part of `down` that the lowest row does not need
 * @property {boolean} named true if there is room for roles below the thumbnails
 * @property {boolean} isNumbered true if layers have their numbers next to them
 * @property {number} columns
 * @property {number} height of the model
 * @property {number} below height of the roles of the lowest row
 * @property {(layer: number, place?: number) => number} rowTop
 * @property {number} inset from the top of a row to its thumbnails
 * @property {(layer: number) => number} middle of a layer's thumbnails
 */

/**
 * The heads of a single layer are in several rows, the first on top.
 * @param {Session} session
 * @param {About} about
 * @param {{ width: number, height: number, names: boolean, letter: number }} room
 * @returns {Layout}
 */
function layoutOf(session, { layers, heads, terms }, { width, height, names, letter }) {
  const run = session.run.value;
  const above = names ? TOP_LINE : 0;
  const isNumbered = names && layers > 1;
  const left = STREAM_WIDTH + (isNumbered ? NUMBER_WIDTH : 0);
  const roleNames = Object.values(terms?.[session.language.value] ?? {}).map(([name]) => nameWidth(name, letter));
  const grid = rowsOf({
    width: width - left,
    height: Math.max(height - above, 0),
    tokens: run ? Math.max(run.T, run.S) : USUAL_TOKENS,
    layers,
    heads,
    names,
    letter,
    name: names ? Math.max(0, ...roleNames) : 0,
  });
  const { columns, rows, size, across, down, spare, words: labels } = grid;
  const named = labels === 'role';
  const inset = named ? 2 : Math.max((down - size) / 2, 0);
  const below = named ? (TEXT_HEIGHTS.role * letter) / 12 - inset : 0;
  const rowTop = (/** @type {number} */ layer, place = 0) =>
    above + (layers - 1 - layer + Math.floor(place / columns)) * down;
  return {
    size,
    left,
    across,
    down,
    spare,
    named,
    isNumbered: isNumbered && named,
    columns,
    below,
    rowTop,
    inset,
    height: Math.min(above + layers * rows * down - spare, height),
    middle: (layer) => rowTop(layer) + ((rows - 1) * down) / 2 + inset + size / 2,
  };
}

/**
 * The layout with a gap below a layer.
 * @param {Layout} layout @param {number} gap @param {number} below the layer
 * @returns {Layout}
 */
const opened = (layout, gap, below) => ({
  ...layout,
  height: layout.height + gap,
  rowTop: (layer, place) => layout.rowTop(layer, place) + (layer < below ? gap : 0),
  middle: (layer) => layout.middle(layer) + (layer < below ? gap : 0),
});

/**
 * @param {object} props
 * @param {number} props.width
 * @param {number} props.height of the room: the bottom of the model is aligned with the bottom of the picture
 * @param {boolean} [props.names] true if layers, heads, tokens and the next token are named
 * @param {number} [props.letter] font size of the names
 */
export function Model({ width, height, names = true, letter = 12 }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const about = session.about.value;
  const order = useOrder();
  if (!about || !(width > 0 && height > 0)) return <section class="model" style={px({ height })} />;
  // The roles of the lowest row are below the base of the picture.
  const below = names ? (TEXT_HEIGHTS.role * letter) / 12 : 0;
  const gap = gapIn(session.state.value);
  const closed = layoutOf(session, about, { width, height: height + below - gap, names, letter });
  const layout = gap > 0 ? opened(closed, gap, TRICK.to.layer) : closed;
  const { middle } = layout;
  return (
    <section
      class={`model ${isEmpty(run) ? 'blank' : ''}`}
      style={px({ height: layout.height, width, marginTop: height + layout.below - layout.height })}
      aria-label={words.models}
    >
      <ResidualStream
        probabilities={run?.lens}
        height={layout.height}
        bottom={layout.height - layout.below}
        joints={Array.from({ length: about.layers }, (_, layer) => middle(layer))}
        label={words.stream}
      />
      <Heads about={about} layout={layout} order={order} letter={letter} width={width} />
      {gap > 0 && <CutLine layout={layout} order={order} width={width} />}
      {layout.isNumbered && (
        <span class="layer-word" aria-hidden="true">
          {words.layerWord}
        </span>
      )}
      {names && <SortMenu />}
    </section>
  );
}

/**
 * The rows of heads. Thumbnails that are too small to be read are enlarged by a lens under the pointer.
 * @param {{ about: About, layout: Layout, order: number[][] | null, letter: number, width: number }} props
 */
function Heads({ about, layout, order, letter, width }) {
  const session = useSession();
  const [pointed, setPointed] = useState(/** @type {PointedHead | null} */ (null));
  const { layers, heads } = about;
  const { size, left, across, down, columns, rowTop } = layout;
  const isTiled = size < MIN_PICTURE;
  const rooms = !layout.named ? null : roomsForNames(session, about, order, { columns, across, letter });
  const point = (/** @type {any} */ event) => {
    const name = isTiled && event.target.closest?.('[data-head]')?.dataset.head;
    if (!name) return setPointed(null);
    const [layer, head] = name.split('.').map(Number);
    const place = order?.[layer].indexOf(head) ?? head;
    const x = left + ((place % columns) + 0.5) * across;
    setPointed({ layer, head, place, order, x, y: rowTop(layer, place) + down / 2 });
  };
  return (
    <>
      <div
        role="radiogroup"
        aria-label={session.words.value.models}
        onKeyDown={(event) => walkHeads(event, session, about, order)}
        onPointerOver={point}
        onPointerLeave={() => setPointed(null)}
        onFocusIn={point}
        onFocusOut={() => setPointed(null)}
      >
        {Array.from({ length: layers }, (_, layer) => (
          <div key={layer}>
            <LayerName layer={layer} layout={layout} />
            <LayerHeads layer={layer} heads={heads} layout={layout} order={order} rooms={rooms?.[layer]} />
          </div>
        ))}
      </div>
      {pointed && isTiled && <HeadsLens about={about} pointed={pointed} width={width} />}
    </>
  );
}

/** The number of a layer, next to the stream. @param {{ layer: number, layout: Layout }} props */
function LayerName({ layer, layout: { isNumbered, middle } }) {
  const words = useSession().words.value;
  if (!isNumbered) return null;
  return (
    <span class="layer-name" title={words.layer(layer)} style={px({ '--middle': middle(layer) })}>
      {layer}
    </span>
  );
}

/**
 * @param {object} props
 * @param {number} props.layer
 * @param {number} props.heads
 * @param {Layout} props.layout
 * @param {number[][] | null} props.order
 * @param {boolean[] | undefined} props.rooms
 */
function LayerHeads({ layer, heads, layout, order, rooms }) {
  const { size, left, across, down, spare, columns, rowTop, inset } = layout;
  return Array.from({ length: heads }, (_, head) => {
    const place = order?.[layer].indexOf(head) ?? head;
    return (
      <Thumbnail
        key={head}
        layer={layer}
        head={head}
        size={size}
        left={left + (place % columns) * across}
        top={rowTop(layer, place) + inset}
        across={across}
        down={layer > 0 ? down : down - spare}
        named={layout.named}
        hasRoomForName={rooms?.[place]}
      />
    );
  });
}

/**
 * By layer and place, true if the name of the head does not overlap another one.
 * @param {Session} session
 * @param {About} about
 * @param {number[][] | null} order
 * @param {{ columns: number, across: number, letter: number }} layout
 */
function roomsForNames(session, { layers, heads }, order, { columns, across, letter }) {
  const state = session.state.value;
  return Array.from({ length: layers }, (_, layer) => {
    const headAt = (/** @type {number} */ place) => order?.[layer][place] ?? place;
    const places = Array.from({ length: heads }, (_, place) => place);
    const widths = places.map((place) => {
      const role = shownRole(session, layer, headAt(place));
      return nameWidth(role ? roleName(session, role) : '', letter);
    });
    const chosen = layer === state.layer ? places.findIndex((place) => headAt(place) === state.head) : -1;
    const rowStarts = places.filter((place) => place % columns === 0);
    return rowStarts.flatMap((i) => namesWithRoom(widths.slice(i, i + columns), across, chosen - i));
  });
}
