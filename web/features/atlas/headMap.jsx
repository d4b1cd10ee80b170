// The map of all heads. Each head is a shape, or a small picture, at its values on two axes that the visitor chooses.

import { useMemo, useRef, useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';
import { useSize } from '../../ui/useSize.js';
import { axesOf, scaleOf, valuesOn } from './axes.js';
import { Frame, FramedHeads, useFrame } from './frame.jsx';
import { HeadShapes } from './headShapes.jsx';
import { MapFinder } from './mapFinder.jsx';
import { useMapKeys } from './mapKeys.js';
import { MapLabels, roleWidth } from './mapLabels.jsx';
import { nearestHeads } from './placeLabels.js';
import { placePictures } from './placePictures.js';
import { Pointed } from './pointed.jsx';
import { useAtlasTexts } from './texts.js';
import { useAxes } from './useAtlas.js';

/** @import { AtlasMap, AtlasRole } from '../../store/atlasProtocol.js' */
/** @import { AxisName, Scale } from './axes.js' */
/** @import { Point } from './placeLabels.js' */
/** @import { Pictures } from './placePictures.js' */
/**
 * The map with its scales and the positions of the heads, ready to draw.
 * @typedef {object} Drawn
 * @property {AtlasMap} map
 * @property {(AtlasRole | null)[]} roles
 * @property {AxisName[]} axes
 * @property {Scale[]} scales
 * @property {number[][]} values by axis and head
 * @property {Point[]} places at the values, in pixels
 * @property {Pictures | null} pictures of the heads, if they are drawn instead of shapes
 * @property {Point[]} points where the heads are drawn: at their values, or where there is room for their pictures
 * @property {number} width
 * @property {number} height
 */

/** Margins for the numbers on the axes, and for shapes at the ends of an axis. */
const [LEFT, RIGHT, TOP, BOTTOM] = [30, 14, 12, 24];
/** Maximum distance in pixels from the pointer to a head that it points at. */
const REACH = 20;

/**
 * @param {AtlasMap} map
 * @param {(AtlasRole | null)[]} roles
 * @param {AxisName[]} axes
 * @param {{ width: number, height: number }} size
 * @param {{ roles: Record<string, string> }} texts
 * @returns {Drawn}
 */
function draw(map, roles, axes, { width, height }, texts) {
  const values = axes.map((name) => valuesOn(map, name));
  const scales = [scaleOf(axes[0], values[0], LEFT, width - RIGHT), scaleOf(axes[1], values[1], height - BOTTOM, TOP)];
  // A head without a value on an axis is drawn at the beginning of the axis.
  const place = (/** @type {number} */ axis, /** @type {number} */ head) => {
    const value = values[axis][head];
    return scales[axis].at(Number.isFinite(value) ? value : scales[axis].least);
  };
  const places = values[0].map((_, head) => ({ x: place(0, head), y: place(1, head) }));
  const room = { x: LEFT, y: 0, width: width - LEFT, height: height - BOTTOM };
  const widths = places.map((_, head) => (roles[head] ? roleWidth(texts.roles[roles[head]]) : 0));
  const pictures = map.pictures ? placePictures(places, widths, room) : null;
  return { map, roles, axes, scales, values, places, pictures, points: pictures?.points ?? places, width, height };
}

/** @param {{ map: AtlasMap, roles: (AtlasRole | null)[], onEnter: () => void }} props */
export function HeadMap({ map, roles, onEnter }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const axes = useAxes(map);
  const area = useRef(/** @type {HTMLDivElement | null} */ (null));
  const size = useSize(area);
  // Each move of the pointer renders the map again, so the places of the heads are stored.
  const drawn = useMemo(
    () => (size.width > 80 && size.height > 80 ? draw(map, roles, axes, size, texts) : null),
    [map, roles, axes, size.width, size.height, texts],
  );
  const [pointed, setPointed] = useState(/** @type {Point | null} */ (null));
  const [query, setQuery] = useState(/** @type {string | null} */ (null));
  const choose = (/** @type {number} */ i) =>
    session.update({ layer: Math.floor(i / map.heads), head: i % map.heads }, 'head');
  const frame = useFrame(drawn, (/** @type {Point} */ at) => {
    const [nearest] = drawn ? nearestHeads(drawn.points, at, REACH, 1) : [];
    if (nearest) choose(nearest.head);
  });
  const onKeyDown = useMapKeys(drawn, choose, onEnter, () => setQuery(''));
  const around = pointed && drawn ? nearestHeads(drawn.points, pointed, REACH) : [];
  return (
    <div class="atlas-figure">
      <div class="axis-line">
        <AxisMenu map={map} axes={axes} at={1} />
        {query === null ? null : (
          <MapFinder query={query} setQuery={setQuery} map={map} roles={roles} choose={choose} />
        )}
      </div>
      <div
        class="atlas-area"
        ref={area}
        role="application"
        tabIndex={0}
        aria-label={texts.map(texts.axes[axes[0]], texts.axes[axes[1]])}
        onKeyDown={onKeyDown}
        onPointerMove={(event) => {
          const at = frame.move(event);
          setPointed(at && event.pointerType !== 'touch' ? at : null);
        }}
        onPointerLeave={() => setPointed(null)}
        onPointerDown={frame.press}
        onPointerUp={frame.release}
        onPointerCancel={frame.cancel}
      >
        {drawn && (
          <>
            <Axes drawn={drawn} />
            <HeadShapes drawn={drawn} query={query} />
            <MapLabels drawn={drawn} />
            <Frame frame={frame.box} />
            {around.length > 0 && !frame.box && <Pointed drawn={drawn} heads={around.map(({ head }) => head)} />}
          </>
        )}
      </div>
      <div class="axis-line across-line">
        <AxisMenu map={map} axes={axes} at={0} />
      </div>
      {frame.heads.length > 0 && <FramedHeads map={map} heads={frame.heads} onClose={frame.clear} />}
    </div>
  );
}

/** Draws the grid lines and the numbers on the axes. @param {{ drawn: Drawn }} props */
function Axes({
  drawn: {
    scales: [across, up],
    width,
    height,
  },
}) {
  return (
    <svg class="atlas-grid" width={width} height={height} aria-hidden="true">
      {across.ticks.map(({ value, at }) => (
        <g key={value}>
          <line x1={at} x2={at} y1={TOP} y2={height - BOTTOM} />
          <text x={at} y={height - BOTTOM + 17} text-anchor="middle">
            {value}
          </text>
        </g>
      ))}
      {up.ticks.map(({ value, at }) => (
        <g key={value}>
          <line x1={LEFT} x2={width - RIGHT} y1={at} y2={at} />
          <text x={LEFT - 8} y={at + 4.5} text-anchor="end">
            {value}
          </text>
        </g>
      ))}
    </svg>
  );
}

/**
 * The name of an axis, which opens a menu of all axes.
 * @param {{ map: AtlasMap, axes: AxisName[], at: 0 | 1 }} props
 */
function AxisMenu({ map, axes, at }) {
  const session = useSession();
  const texts = useAtlasTexts();
  return (
    <span class="axis-name">
      <Menu
        up={at === 0}
        right={at === 0}
        label={texts.axes[axes[at]]}
        name={`${at === 0 ? texts.across : texts.up}: ${texts.axes[axes[at]]}`}
        items={axesOf(map).map((name) => ({
          key: name,
          label: texts.axes[name],
          about: texts.axesAbout[name],
          chosen: name === axes[at],
          act: () => session.update({ axes: (at === 0 ? [name, axes[1]] : [axes[0], name]).join('.') }),
        }))}
      />
    </span>
  );
}
