// The large picture of a head, with a row for each query and a column for each key. In a causal picture the labels of
// the keys are along its diagonal, and the title of the head is in the empty half.

import { useRef } from 'preact/hooks';
import type { Picture as PictureOf, ViewProps } from '../../drawing/types.ts';
import { isAhead } from '../../model/derivation.ts';
import { isOff, placeOfLayer } from '../../model/modelEdits.ts';
import { ARROW_STEPS, nextCell } from '../../model/nextCell.ts';
import { weightText } from '../../model/numbers.ts';
import { spokenName } from '../../model/tokens.ts';
import { showsWritten } from '../../model/viewRules.ts';
import { HeadTitle } from '../../parts/headTitle.tsx';
import { later } from '../../parts/lazy.ts';
import { Labels, ReadCell } from '../../parts/matrixLabels.tsx';
import { usePicture } from '../../parts/usePicture.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { MIN_LABEL_CELL } from '../../ui/layout.ts';
import { px } from '../../ui/px.ts';
import { loadBrush } from '../mask/feature.ts';
import { Spectrogram } from '../sound/feature.ts';
import { loadSums } from '../sums/feature.ts';
import { WrittenRows } from '../written/feature.ts';
import { FirstToken, isFirstToken } from './firstToken.tsx';
import { useMatrixCanvas } from './useMatrixCanvas.ts';

const Lens = later(() => import('./lens.tsx'), 'Lens');
const Sums = later(loadSums, 'Sums');
const Brush = later(loadBrush, 'Brush');

export function Picture({ width, height, most, compact = false, bare = false }: ViewProps) {
  const session = useSession();
  const picture = usePicture({ width, height, most, bare });
  const canvas = useMatrixCanvas(picture);
  const state = session.shownState.value;
  if (!picture) return <div class="picture" style={px({ height })} />;
  const hasLabels = picture.cell >= MIN_LABEL_CELL;
  const hasLens = !hasLabels && !picture.full;
  return (
    <div
      class={`picture ${isOff(state, placeOfLayer(session, state.layer), state.head) ? 'off' : ''}`}
      style={px({ height })}
      onPointerDown={(event) => {
        // The target is read now, because after the event it would be the element of the page that contains the shadow
        // root.
        const label = event.target as HTMLElement;
        if (label.closest('.labels')) loadSums().then(({ drag }) => drag(session, picture, event, label));
      }}
    >
      <Matrix picture={picture} canvas={canvas} />
      <UnmatchedRows picture={picture} />
      {hasLabels && <Labels picture={picture} />}
      <ReadCell picture={picture} />
      {picture.foot > 0 && <Spectrogram picture={picture} />}
      {isFirstToken(session, picture, height) && <FirstToken picture={picture} />}
      {state.sum && <Sums picture={picture} />}
      {showsWritten(state, picture.run) && <WrittenRows picture={picture} />}
      {session.brush.value && <Brush picture={picture} />}
      {!bare && <HeadTitle picture={picture} compact={compact || hasLens} />}
      {hasLens && !compact && <Lens picture={picture} />}
    </div>
  );
}

/** The cells, which respond to pointer and keyboard. */
function Matrix({ picture, canvas }: { picture: PictureOf; canvas: { current: HTMLCanvasElement | null } }) {
  const session = useSession();
  const words = session.words.value;
  const { run, x, y, matrixWidth, matrixHeight } = picture;
  const input = useMatrixInput(picture, canvas);
  return (
    <div
      class="matrix"
      id="picture"
      tabIndex={0}
      role="application"
      aria-roledescription={words.views.heatmap}
      aria-label={words.picture(words.headInText(run.layer, run.head))}
      style={px({ left: x, top: y, width: matrixWidth, height: matrixHeight })}
      onPointerMove={input.point}
      onPointerLeave={() => session.setHover(null)}
      onPointerDown={input.press}
      onPointerUp={input.release}
      onKeyDown={(event) => onKey(event, session, picture)}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}

/** Returns pointer handlers. A mouse reads the cell under it and keeps it by a press; a finger reads by pressing. */
function useMatrixInput({ weights, T, S, cell, full }: PictureOf, canvas: { current: HTMLCanvasElement | null }) {
  const session = useSession();
  const isTouching = useRef(false);
  const cellAt = (event: PointerEvent) => {
    const box = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    const [s, t] = [event.clientX - box.left, event.clientY - box.top].map((from) => Math.floor(from / cell));
    return t >= 0 && s >= 0 && t < T && s < S && !isAhead(weights[t * S + s], t, s, full) ? { t, s } : null;
  };
  return {
    point(event: PointerEvent) {
      if (event.pointerType === 'touch' && !isTouching.current) return;
      const found = cellAt(event);
      const was = session.hover.value;
      if (found?.t !== was?.t || found?.s !== was?.s) session.setHover(found);
    },
    press(event: PointerEvent) {
      const found = cellAt(event);
      if (!found) return;
      const { cell: kept } = session.state.value;
      if (event.pointerType === 'touch') isTouching.current = true;
      session.look({ cell: kept && kept.t === found.t && kept.s === found.s ? null : found });
    },
    release() {
      isTouching.current = false;
    },
  };
}

function onKey(event: KeyboardEvent, session: Session, picture: PictureOf) {
  const { names, keys, weights, T, S, full } = picture;
  const words = session.words.value;
  const read = session.cell.value;
  if (!read) return;
  if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    if (event.key === ' ' && session.brush.value) return void loadBrush().then(({ toggle }) => toggle(session, read));
    return session.look({ cell: session.state.value.cell ? null : read });
  }
  if (event.shiftKey && ARROW_STEPS[event.key]) {
    event.preventDefault();
    return void loadSums().then(({ extend }) => extend(session, picture, event.key));
  }
  const next = nextCell(event.key, read, { T, S, full });
  if (!next) return;
  event.preventDefault();
  event.stopPropagation();
  const { t, s } = next;
  session.setHover(null);
  session.look({ cell: next });
  session.announce(words.cell(spokenName(names, t), spokenName(keys, s), weightText(weights[t * S + s])));
}

/** Draws a line to the left of the rows in which the head's pattern has no match. */
function UnmatchedRows({ picture: { unmatchedRows, x, y, cell } }: { picture: PictureOf }) {
  /** Groups of neighbouring rows, each with its first row and the row after its last. */
  const groups: [number, number][] = [];
  for (const t of unmatchedRows) {
    const last = groups.at(-1);
    if (last?.[1] === t) last[1]++;
    else groups.push([t, t + 1]);
  }
  return groups.map(([from, to]) => (
    <span key={from} class="nothing-rows" style={px({ left: x, top: y + from * cell, height: (to - from) * cell })} />
  ));
}
