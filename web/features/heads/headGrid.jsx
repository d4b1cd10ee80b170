// The model as a diagram: tokens at the bottom, a row of heads for each layer, the next token at the top, and the
// residual stream on the left.

import { useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { MIN_PICTURE, namesWithRoom, nameWidth, rowsOf } from '../../ui/layout.js';
import { later } from '../../ui/lazy.jsx';
import { px } from '../../ui/px.js';
import { shown } from '../prompt/tokens.js';
import { shownRole } from '../story/shownRoles.js';
import { isEmpty } from '../viewRules.js';
import { AblationButton } from './ablation.jsx';
import { SortMenu, useOrder } from './headOrder.jsx';
import { ResidualStream, STREAM_WIDTH } from './residualStream.jsx';
import { roleName } from './roles.js';
import { Thumbnail, walkHeads } from './thumbnail.jsx';

/** @import { About } from '../../store/protocol.js' */
/** @import { Session } from '../../store/session.js' */
/** @import { PointedHead } from '../heatmap/lens.jsx' */

const HeadsLens = later(() => import('../heatmap/lens.jsx'), 'HeadsLens');

/** Height of the line above the heads, and of the one below. */
const END_LINE = 22;
/** Number of tokens for which thumbnails are laid out until there is a run. */
const USUAL_TOKENS = 17;
/** A layer's name is above its row, or next to it if the gap is this many letters wide; else its number is. */
const [NAME_ABOVE, NAME_BESIDE_LETTERS] = [6, 4];

/**
 * The positions of the heads in the room of the model, CSS pixels.
 * @typedef {object} Layout
 * @property {number} size of a thumbnail
 * @property {number} across from one thumbnail to the next
 * @property {number} down from one row to the next
 * @property {number} spare the part of `down` that the lowest row does not need
 * @property {string} labels around a thumbnail: 'both' the layer's name above and the role below, 'role' the role
 *   alone, or 'none'
 * @property {number} columns
 * @property {number} height of the model
 * @property {number} ends height of each line above and below the heads
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
  const ends = names ? END_LINE : 0;
  const roleNames = Object.values(terms?.[session.language.value] ?? {}).map(([name]) => nameWidth(name, letter));
  const grid = rowsOf({
    width: width - STREAM_WIDTH,
    height: Math.max(height - 2 * ends, 0),
    tokens: run ? Math.max(run.T, run.S) : USUAL_TOKENS,
    layers,
    heads,
    names,
    letter,
    name: names ? Math.max(0, ...roleNames) : 0,
  });
  const { columns, rows, size, across, down, spare, words: labels } = grid;
  const inset = labels === 'both' ? letter + NAME_ABOVE : labels === 'role' ? 2 : Math.max((down - size) / 2, 0);
  const rowTop = (/** @type {number} */ layer, place = 0) =>
    ends + (layers - 1 - layer + Math.floor(place / columns)) * down;
  return {
    size,
    across,
    down,
    spare,
    labels,
    columns,
    ends,
    rowTop,
    inset,
    height: Math.min(2 * ends + layers * rows * down - spare, height),
    middle: (layer) => rowTop(layer) + ((rows - 1) * down) / 2 + inset + size / 2,
  };
}

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
  const layout = layoutOf(session, about, { width, height, names, letter });
  const { ends, middle } = layout;
  return (
    <section
      class={`model ${isEmpty(run) ? 'blank' : ''}`}
      style={px({ height: layout.height, width, marginTop: height - layout.height })}
      aria-label={words.models}
    >
      <ResidualStream
        probabilities={run?.lens}
        height={layout.height}
        bottom={layout.height - ends}
        joints={Array.from({ length: about.layers }, (_, layer) => middle(layer))}
        label={words.stream}
      />
      {names && about.predicts && !isEmpty(run) && (
        <p class="end out" style={px({ left: STREAM_WIDTH })}>
          {words.out} <i>{run?.top ? shown(run.top[0].text).trim() : ''}</i>
        </p>
      )}
      <Heads about={about} layout={layout} order={order} letter={letter} width={width} />
      {names && <p class="end in">{words.tokensIn}</p>}
      {names && <AblationButton />}
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
  const { size, across, down, columns, rowTop } = layout;
  const isTiled = size < MIN_PICTURE;
  const rooms = layout.labels === 'none' ? null : roomsForNames(session, about, order, { columns, across, letter });
  const point = (/** @type {any} */ event) => {
    const name = isTiled && event.target.closest?.('[data-head]')?.dataset.head;
    if (!name) return setPointed(null);
    const [layer, head] = name.split('.').map(Number);
    const place = order?.[layer].indexOf(head) ?? head;
    const x = STREAM_WIDTH + ((place % columns) + 0.5) * across;
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
            <LayerName layer={layer} layout={layout} letter={letter} />
            <LayerHeads layer={layer} heads={heads} layout={layout} order={order} rooms={rooms?.[layer]} />
          </div>
        ))}
      </div>
      {pointed && isTiled && <HeadsLens about={about} pointed={pointed} width={width} />}
    </>
  );
}

/** @param {{ layer: number, layout: Layout, letter: number }} props */
function LayerName({ layer, layout: { labels, rowTop, middle, across, size }, letter }) {
  const words = useSession().words.value;
  if (labels === 'none') return null;
  if (labels === 'both')
    return (
      <span class="layer-name" style={px({ left: STREAM_WIDTH, top: rowTop(layer) })}>
        {words.layer(layer)}
      </span>
    );
  return (
    <span class="layer-name beside" title={words.layer(layer)} style={px({ '--middle': middle(layer) })}>
      {across - size > NAME_BESIDE_LETTERS * letter ? words.layer(layer) : layer}
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
  const { size, across, down, spare, columns, rowTop, inset } = layout;
  return Array.from({ length: heads }, (_, head) => {
    const place = order?.[layer].indexOf(head) ?? head;
    return (
      <Thumbnail
        key={head}
        layer={layer}
        head={head}
        size={size}
        left={STREAM_WIDTH + (place % columns) * across}
        top={rowTop(layer, place) + inset}
        across={across}
        down={layer > 0 ? down : down - spare}
        named={layout.labels !== 'none'}
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
