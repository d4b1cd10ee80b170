// A frame that the visitor draws on the map. The heads in it are listed, and can be switched off together.

import { useRef, useState } from 'preact/hooks';
import { withPlace } from '../../model/modelEdits.ts';
import type { AtlasMap } from '../../model/protocol/atlasProtocol.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import type { Drawn } from './map/headMap.tsx';
import { type Box, headsIn, type Point } from './placeLabels.ts';
import { useAtlasTexts } from './texts.ts';

/** A drag of the pointer by at most this many pixels counts as a click. */
const MIN_DRAG = 6;

const boxOf = (a: Point, b: Point): Box => ({
  x: Math.min(a.x, b.x),
  y: Math.min(a.y, b.y),
  width: Math.abs(a.x - b.x),
  height: Math.abs(a.y - b.y),
});

export function useFrame(drawn: Drawn | null, onClick: (at: Point) => void) {
  const begun = useRef(null as Point | null);
  const [box, setBox] = useState(null as Box | null);
  const [heads, setHeads] = useState([] as number[]);
  const placeOf = (event: PointerEvent) => {
    const { left, top } = (event.currentTarget as Element).getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const cancel = () => {
    begun.current = null;
    setBox(null);
  };
  return {
    box,
    heads,
    clear: () => setHeads([]),
    cancel,
    press(event: PointerEvent) {
      if (event.button === 0) begun.current = placeOf(event);
    },
    move(event: PointerEvent): Point {
      const at = placeOf(event);
      // A drag with a finger draws no frame, because it scrolls the page.
      if (begun.current && event.buttons === 1 && event.pointerType !== 'touch') {
        const now = boxOf(begun.current, at);
        if (box || now.width + now.height > MIN_DRAG) setBox(now);
      }
      return at;
    },
    release(event: PointerEvent) {
      const at = placeOf(event);
      if (box && drawn) {
        setHeads(headsIn(drawn.points, box));
      } else if (begun.current) {
        setHeads([]);
        onClick(at);
      }
      cancel();
    },
  };
}

export const Frame = ({ frame }: { frame: Box | null }) =>
  frame && (
    <div class="atlas-frame" style={px({ left: frame.x, top: frame.y, width: frame.width, height: frame.height })} />
  );

export function FramedHeads({ map, heads, onClose }: { map: AtlasMap; heads: number[]; onClose: () => void }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const names = heads.map((head) => `${Math.floor(head / map.heads)}.${head % map.heads}`);
  const switchOff = () => {
    const { scale } = session.state.peek();
    session.update({ scale: names.reduce((all, name) => withPlace(all, name, 0, 1), scale) });
  };
  return (
    <p class="atlas-framed" role="status">
      <b>{texts.framed(heads.length)}</b>{' '}
      {names.map((name, i) => (
        <button
          key={name}
          type="button"
          class="word"
          onClick={() =>
            session.update({ layer: Math.floor(heads[i] / map.heads), head: heads[i] % map.heads }, 'head')
          }
        >
          {name}
        </button>
      ))}{' '}
      {session.about.value?.edits && (
        <button type="button" class="word strong" onClick={switchOff}>
          {texts.allOff}
        </button>
      )}
      <button type="button" class="word" onClick={onClose}>
        {texts.close}
      </button>
    </p>
  );
}
