// The instrument, or one of its parts, in another page: as wide as the element that it stands in, as high as that
// element where it has a height of its own.

import { Model } from '../features/heads/headGrid.jsx';
import { usePicture } from '../features/heatmap/heatmap.jsx';
import { Title } from '../features/reading/cellTitle.jsx';
import { viewNamed } from '../features/views.js';
import { useSession, useSize } from '../ui/context.js';
import { App } from './app.jsx';

/** @typedef {{ view: string, controls: boolean, T: number, S: number }} Shape what is shown, of how many tokens */

/** Room of the model's stream, and between thumbnails. */
const [STREAM, GAP] = [22, 5];
/** Cells of a picture that stands alone, and its thumbnails, are not larger than this. */
const [CELL, THUMBNAIL] = [48, 96];
/** Room around a thumbnail for the names of layers and heads. */
const WORDS = 56;
/** Smaller ones have no names. */
const NAMED = 32;
/** A smaller picture has no room for its name in the corner. */
const CORNER = 300;
const between = (least, x, most) => Math.round(Math.min(Math.max(x, least), most));

/** @param {import('@preact/signals').Signal<Shape>} shape @param {boolean} fills the element has a height of its own */
export function embedded(shape, fills) {
  return function Embedded({ host }) {
    const { width, height } = useSize(host);
    const { view, controls, T, S } = shape.value;
    if (width === 0) return null;
    if (view === 'instrument' || view === 'story') {
      const tall = fills ? height : between(600, 0.62 * width, 920);
      return <App host={host} height={tall} controls={controls} />;
    }
    return <Part view={view} width={width} height={fills ? height : 0} tokens={[T || 8, S || T || 8]} />;
  };
}

const kindOf = (width) => (width < 560 ? 'phone' : width < 900 ? 'tablet' : 'desk');
const LETTERS = { phone: 14, tablet: 15, desk: 15 };

/** One part alone, with what is read of it under it. */
function Part({ view, width, height, tokens }) {
  const session = useSession();
  const words = session.words.value;
  const failure = session.failure.value;
  const kind = kindOf(width);
  return (
    <div class={`page part ${kind}`} data-busy={session.busy.value}>
      {failure !== null ? (
        <p class="failure" role="alert">
          {words.failed(failure)}{' '}
          <button type="button" class="word strong" onClick={session.retry}>
            {words.again}
          </button>
        </p>
      ) : view === 'heads' ? (
        <Heads width={width} height={height} />
      ) : (
        <One view={view} width={width} height={height} most={LETTERS[kind]} tokens={tokens} />
      )}
      <div class="spoken" role="status" aria-live="polite">
        {session.announcement.value}
      </div>
    </div>
  );
}

/** The line under a picture. */
const LINE = 34;

function One({ view, width, height, most, tokens }) {
  const session = useSession();
  const run = session.run.value;
  const cell = session.cell.value;
  const { Component: View, Marks } = viewNamed(view === 'head' ? 'heatmap' : view);
  const matrix = view === 'head';
  const [T, S] = run ? [run.T, run.S] : tokens;
  const room = { width, height: height ? Math.max(height - LINE, 40) : heightFor(T, S), most };
  const picture = usePicture({ ...room, bare: matrix });
  // Where only the width is given the cells decide: a few tokens need no large picture.
  const cells = picture ? Math.min(picture.cell, height ? picture.cell : CELL) : 0;
  if (!height && matrix && picture) room.height = picture.top + T * cells;
  const small = matrix && cells * S < CORNER;
  if (!height && !matrix) room.height = between(240, 0.62 * width, 620);
  return (
    <>
      {small && run && <Name run={run} />}
      <div class={small && picture?.full ? 'raised' : ''}>
        <View {...room} compact={width < 420} {...(matrix && { bare: small })} />
      </div>
      {Marks && (
        <div class="legend">
          <Marks />
        </div>
      )}
      <div class="line">{run?.T > 0 && cell && matrix && <Title run={run} cell={cell} />}</div>
    </>
  );
}
/** Enough for cells as large as may be, and what stands above them. */
const heightFor = (T, S) => CELL * Math.max(T, S) + 160;

function Name({ run: { about, layer, head } }) {
  const words = useSession().words.value;
  const name = about.layers * about.heads === 1 ? about.title : words.headName(layer, head);
  return name ? <h2 class="name">{name}</h2> : null;
}

function Heads({ width, height }) {
  const session = useSession();
  const { layers, heads } = session.about.value ?? { layers: 1, heads: 1 };
  const tokens = Math.max(session.run.value?.T ?? 1, session.run.value?.S ?? 1);
  const room = Math.min(Math.floor((width - STREAM) / heads) - GAP, THUMBNAIL);
  // Whole multiples of the tokens, as the thumbnails are.
  const size = tokens <= 24 && room >= tokens ? tokens * Math.floor(room / tokens) : room;
  const wide = Math.min(width, STREAM + heads * (size + Math.min(GAP + 4, GAP + tokens - 1)));
  const words = size < NAMED ? 8 : WORDS;
  return <Model width={wide} height={height || layers * (Math.max(size, 8) + words) + 44} />;
}
