// A frame that the visitor draws on the map. The heads in it are listed, and can be switched off together.

import { useRef, useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { withPlace } from '../whatif/modelEdits.js';
import { headsIn } from './placeLabels.js';
import { useAtlasTexts } from './texts.js';

/** @import { AtlasMap } from '../../store/atlasProtocol.js' */
/** @import { Drawn } from './headMap.jsx' */
/** @import { Box, Point } from './placeLabels.js' */

/** A drag of the pointer by at most this many pixels counts as a click. */
const MIN_DRAG = 6;

/** @param {Point} a @param {Point} b @returns {Box} */
const boxOf = (a, b) => ({
  x: Math.min(a.x, b.x),
  y: Math.min(a.y, b.y),
  width: Math.abs(a.x - b.x),
  height: Math.abs(a.y - b.y),
});

/** @param {Drawn | null} drawn @param {(at: Point) => void} onClick */
export function useFrame(drawn, onClick) {
  const begun = useRef(/** @type {Point | null} */ (null));
  const [box, setBox] = useState(/** @type {Box | null} */ (null));
  const [heads, setHeads] = useState(/** @type {number[]} */ ([]));
  const placeOf = (/** @type {PointerEvent} */ event) => {
    const { left, top } = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
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
    press(/** @type {PointerEvent} */ event) {
      if (event.button === 0) begun.current = placeOf(event);
    },
    /** @param {PointerEvent} event @returns {Point} */
    move(event) {
      const at = placeOf(event);
      // A drag with a finger draws no frame, because it scrolls the page.
      if (begun.current && event.buttons === 1 && event.pointerType !== 'touch') {
        const now = boxOf(begun.current, at);
        if (box || now.width + now.height > MIN_DRAG) setBox(now);
      }
      return at;
    },
    release(/** @type {PointerEvent} */ event) {
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

/** @param {{ frame: Box | null }} props */
export const Frame = ({ frame }) =>
  frame && (
    <div class="atlas-frame" style={px({ left: frame.x, top: frame.y, width: frame.width, height: frame.height })} />
  );

/** @param {{ map: AtlasMap, heads: number[], onClose: () => void }} props */
export function FramedHeads({ map, heads, onClose }) {
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
