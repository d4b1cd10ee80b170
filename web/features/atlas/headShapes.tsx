// The heads on the map, as shapes or as small pictures. The chosen head has a ring.

import { useEffect, useRef } from 'preact/hooks';
import { RAMP } from '../../drawing/colourRamp.ts';
import { PICTURE, pictureOf } from '../../model/meanPicture.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import type { Drawn } from './map/headMap.tsx';
import { matches } from './map/mapFinder.tsx';
import { settledHeads } from './movement.ts';
import { SHAPES, sizeOf } from './shapes.ts';
import { useAtlasTexts } from './texts.ts';
export type Earlier = { key: string; done: number; places: { x: number; y: number }[]; settled: boolean[] };

/** Returns true for each head whose position on the map no longer changes. */
function useSettled({ map, places: points, width, height, axes }: Drawn): boolean[] {
  const before = useRef(null as Earlier | null);
  if (map.source === 'sentence') return points.map(() => false);
  if (map.state === 'finished' || map.state === 'stopped') return points.map(() => true);
  const key = `${map.key} ${axes} ${width} ${height}`;
  const places = points.map(({ x, y }) => ({ x: x / width, y: y / height }));
  const old = before.current?.key === key ? before.current : null;
  if (old?.done === map.done) return old.settled;
  const settled = settledHeads(old?.places ?? null, places, map.done - (old?.done ?? 0));
  before.current = { key, done: map.done, places, settled };
  return settled;
}

/** `query`: text of the search; heads that do not match it are pale. */
export function HeadShapes({ drawn, query }: { drawn: Drawn; query: string | null }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const { map, roles, points, width, height } = drawn;
  const { layer, head } = session.state.value;
  const settled = useSettled(drawn);
  const chosen = layer * map.heads + head;
  const highest = Math.max(0, ...Array.from(map.costs ?? [], (cost) => (Number.isFinite(cost) ? cost : 0)));
  const isPale = (i: number) => query !== null && query !== '' && !matches(query, map, roles, texts, i);
  if (drawn.pictures)
    return (
      <>
        <MovedFrom drawn={drawn} side={drawn.pictures.side} />
        {points.map((_, i) => (
          <Picture key={i} drawn={drawn} head={i} chosen={i === chosen} pale={isPale(i)} />
        ))}
      </>
    );
  return (
    <svg class="atlas-shapes" width={width} height={height} aria-hidden="true">
      {points.map(({ x, y }, i) => {
        const role = roles[i] ?? 'none';
        const cost = map.costs?.[i];
        const size = sizeOf(points.length, Number.isFinite(cost) ? cost : undefined, highest);
        return (
          <path
            key={i}
            class={`shape ${role} ${settled[i] && role !== 'none' ? 'filled' : ''} ${isPale(i) ? 'pale' : ''}`}
            d={SHAPES[role]}
            transform={`translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size})`}
          />
        );
      })}
      {points[chosen] && <circle class="ring" cx={points[chosen].x} cy={points[chosen].y} r="14" />}
    </svg>
  );
}

/** Lines from the values of heads to their pictures, if the pictures are elsewhere. `side`: of a picture, in pixels. */
function MovedFrom({ drawn: { places, points, width, height }, side }: { drawn: Drawn; side: number }) {
  return (
    <svg class="atlas-shapes" width={width} height={height} aria-hidden="true">
      {points.map(({ x, y }, i) =>
        Math.max(Math.abs(places[i].x - x), Math.abs(places[i].y - y)) <= side / 2 ? null : (
          <g key={i}>
            <line class="leader" x1={places[i].x} y1={places[i].y} x2={x} y2={y} />
            <circle class="moved-from" cx={places[i].x} cy={places[i].y} r="2" />
          </g>
        ),
      )}
    </svg>
  );
}

function Picture({
  drawn: { map, points, pictures },
  head,
  chosen,
  pale,
}: {
  drawn: Drawn;
  head: number;
  chosen: boolean;
  pale: boolean;
}) {
  const { x, y } = points[head];
  const side = pictures?.side ?? 0;
  const session = useSession();
  const canvas = useRef(null as HTMLCanvasElement | null);
  const theme = session.theme.value;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || !map.pictures) return;
    const image = context.createImageData(PICTURE, PICTURE);
    const pixels = new Uint32Array(image.data.buffer);
    const weights = pictureOf(map.pictures, head);
    const causal = session.about.peek()?.causal ?? true;
    weights.forEach((weight, i) => {
      // In a causal model no cell exists for a key after the query.
      if (!causal || i % PICTURE <= Math.floor(i / PICTURE)) pixels[i] = RAMP[theme].pixel(weight);
    });
    context.putImageData(image, 0, 0);
  }, [map.pictures, head, theme]);
  return (
    <canvas
      ref={canvas}
      class={`mean-picture ${chosen ? 'chosen' : ''} ${pale ? 'pale' : ''}`}
      aria-hidden="true"
      width={PICTURE}
      height={PICTURE}
      style={px({ left: x - side / 2, top: y - side / 2, width: side, height: side })}
    />
  );
}
