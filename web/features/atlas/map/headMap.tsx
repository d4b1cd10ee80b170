// The map of all heads. Each head is a shape, or a small picture, at its values on two axes that the visitor chooses.

import { useMemo, useRef, useState } from 'preact/hooks';
import type { AtlasMap, AtlasRole } from '../../../model/protocol/atlasProtocol.ts';
import { useSession } from '../../../store/context.ts';
import { Menu } from '../../../ui/menu.tsx';
import { useSize } from '../../../ui/useSize.ts';
import { type AxisName, axesOf, type Scale, scaleOf, valuesOn } from '../axes.ts';
import { Frame, FramedHeads, useFrame } from '../frame.tsx';
import { HeadShapes } from '../headShapes.tsx';
import { nearestHeads, type Point } from '../placeLabels.ts';
import { type Pictures, placePictures } from '../placePictures.ts';
import { Pointed } from '../pointed.tsx';
import { useAtlasTexts } from '../texts.ts';
import { useAxes } from '../useAtlas.ts';
import { MapFinder } from './mapFinder.tsx';
import { useMapKeys } from './mapKeys.ts';
import { MapLabels, roleWidth } from './mapLabels.tsx';
/** The map with its scales and the positions of the heads, ready to draw. */
export type Drawn = {
  map: AtlasMap;
  roles: (AtlasRole | null)[];
  axes: AxisName[];
  scales: Scale[];
  /** by axis and head */
  values: number[][];
  /** at the values, in pixels */
  places: Point[];
  /** of the heads, if they are drawn instead of shapes */
  pictures: Pictures | null;
  /** where the heads are drawn: at their values, or where there is room for their pictures */
  points: Point[];
  width: number;
  height: number;
};

/** Margins for the numbers on the axes, and for shapes at the ends of an axis. */
const [LEFT, RIGHT, TOP, BOTTOM] = [30, 14, 12, 24];
/** Maximum distance in pixels from the pointer to a head that it points at. */
const REACH = 20;

function draw(
  map: AtlasMap,
  roles: (AtlasRole | null)[],
  axes: AxisName[],
  { width, height }: { width: number; height: number },
  texts: { roles: Record<string, string> },
): Drawn {
  const values = axes.map((name) => valuesOn(map, name));
  const scales = [scaleOf(axes[0], values[0], LEFT, width - RIGHT), scaleOf(axes[1], values[1], height - BOTTOM, TOP)];
  // A head without a value on an axis is drawn at the beginning of the axis.
  const place = (axis: number, head: number) => {
    const value = values[axis][head];
    return scales[axis].at(Number.isFinite(value) ? value : scales[axis].least);
  };
  const places = values[0].map((_, head) => ({ x: place(0, head), y: place(1, head) }));
  const room = { x: LEFT, y: 0, width: width - LEFT, height: height - BOTTOM };
  const widths = places.map((_, head) => (roles[head] ? roleWidth(texts.roles[roles[head]]) : 0));
  const pictures = map.pictures ? placePictures(places, widths, room) : null;
  return { map, roles, axes, scales, values, places, pictures, points: pictures?.points ?? places, width, height };
}

export function HeadMap({ map, roles, onEnter }: { map: AtlasMap; roles: (AtlasRole | null)[]; onEnter: () => void }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const axes = useAxes(map);
  const area = useRef(null as HTMLDivElement | null);
  const size = useSize(area);
  // Each move of the pointer renders the map again, so the places of the heads are stored.
  const drawn = useMemo(
    () => (size.width > 80 && size.height > 80 ? draw(map, roles, axes, size, texts) : null),
    [map, roles, axes, size.width, size.height, texts],
  );
  const [pointed, setPointed] = useState(null as Point | null);
  const [query, setQuery] = useState(null as string | null);
  const choose = (i: number) => session.update({ layer: Math.floor(i / map.heads), head: i % map.heads }, 'head');
  const frame = useFrame(drawn, (at: Point) => {
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

/** Draws the grid lines and the numbers on the axes. */
function Axes({
  drawn: {
    scales: [across, up],
    width,
    height,
  },
}: {
  drawn: Drawn;
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

/** The name of an axis, which opens a menu of all axes. */
function AxisMenu({ map, axes, at }: { map: AtlasMap; axes: AxisName[]; at: 0 | 1 }) {
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
