// The instrument, or a part of it, inside another page. It is as wide as its element. It is also as high as the
// element, if the height of the element does not depend on the content.

import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Model } from '../features/heads/feature.ts';
import type { Run } from '../model/types.ts';
import { Title } from '../parts/cellTitle.tsx';
import { NUMBER_WIDTH, STREAM_WIDTH } from '../parts/headLayout.ts';
import { usePicture } from '../parts/usePicture.ts';
import { useSession } from '../store/context.ts';
import { between, screenOf } from '../ui/layout.ts';
import { LengthsContext, useLengths, useLengthsOf } from '../ui/lengths.ts';
import { useSize } from '../ui/useSize.ts';
import { Announcement, App, Failed } from './app.tsx';
import { viewNamed } from './views.ts';
/** T and S: the numbers of queries and keys, 0 if they are unknown. height: 0 if the height depends on the content. */
export type Shape = { view: string; controls: boolean; T: number; S: number };
export type PartProps = { view: string; width: number; height: number; T: number; S: number };

/** The gap between thumbnails. */
const GAP = 5;
/** Maximum sides of a cell and of a thumbnail, if the height depends on the content. */
const [MAX_CELL, MAX_THUMBNAIL] = [48, 96];
/** Height of the texts above and below a thumbnail. */
const NAMES = 56;
/** Minimum size of thumbnails with texts. */
const MIN_NAMED = 32;
/** Maximum width in pixels for the choice of layout and font sizes. It has the layout `desk`. */
const WIDEST = 1200;
/** Minimum width of a picture that has room for the head's name in the corner. */
const CORNER = 300;

/** `fills`: true if the element has a height. */
export function embedded(shape: Signal<Shape>, fills: boolean) {
  return function Embedded({ host }: { host: HTMLElement }) {
    const { width, height } = useSize(host);
    const { view, controls, T, S } = shape.value;
    if (width === 0) return null;
    if (view === 'instrument' || view === 'story') {
      const tall = fills ? height : between(600, 0.62 * width, 920);
      return <App host={host} height={tall} controls={controls} />;
    }
    return <Part view={view} width={width} height={fills ? height : 0} T={T || 8} S={S || T || 8} />;
  };
}

/** Returns the kind of screen that sets the font sizes of a part. */
const kindOf = (width: number) => screenOf(Math.min(width, WIDEST)).kind;

function Part(props: PartProps) {
  const session = useSession();
  const { view, width, height } = props;
  const element = useRef(null);
  const look = `page part ${kindOf(width)}`;
  const lengths = useLengthsOf(element, look);
  return (
    <div class={look} ref={element} data-busy={session.busy.value}>
      <LengthsContext.Provider value={lengths}>
        {session.failure.value !== null ? (
          <Failed />
        ) : view === 'heads' ? (
          <Heads width={width} height={height} />
        ) : (
          <One {...props} />
        )}
      </LengthsContext.Provider>
      <Announcement />
    </div>
  );
}

/** A view, with the explained cell in the line below it. */
function One({ view, width, height, ...expected }: PartProps) {
  const session = useSession();
  const run = session.run.value;
  const cell = session.cell.value;
  const { Component: View, Marks } = viewNamed(view === 'head' ? 'heatmap' : view);
  const matrix = view === 'head';
  const { T, S } = run ?? expected;
  const line = useRef(null);
  const lineSize = useSize(line);
  const room = {
    width,
    height: height ? Math.max(height - lineSize.height, 40) : heightFor(T, S),
    most: useLengths().middle,
  };
  const picture = usePicture({ ...room, bare: matrix });
  // If no height is given, it is computed from the size of the cells. This size is at most MAX_CELL, so that a short
  // text does not get a large picture.
  const cells = picture ? Math.min(picture.cell, height ? picture.cell : MAX_CELL) : 0;
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
          <Marks alone />
        </div>
      )}
      <div class="line" ref={line}>
        {run && run.T > 0 && cell && matrix && <Title run={run} cell={cell} />}
      </div>
    </>
  );
}

/** Returns the height of a picture with the largest cells and labels above. */
const heightFor = (T: number, S: number) => MAX_CELL * Math.max(T, S) + 160;

function Name({ run: { about, layer, head } }: { run: Run }) {
  const words = useSession().words.value;
  const name = about.layers * about.heads === 1 ? about.title : words.headName(layer, head);
  return name ? <h2 class="name">{name}</h2> : null;
}

function Heads({ width, height }: { width: number; height: number }) {
  const session = useSession();
  const { layers, heads } = session.about.value ?? { layers: 1, heads: 1 };
  const tokens = Math.max(session.run.value?.T ?? 1, session.run.value?.S ?? 1);
  const room = Math.min(Math.floor((width - STREAM_WIDTH - NUMBER_WIDTH) / heads) - GAP, MAX_THUMBNAIL);
  // The size is a multiple of the number of tokens, as in the layout of the page.
  const size = tokens <= 24 && room >= tokens ? tokens * Math.floor(room / tokens) : room;
  const wide = Math.min(width, STREAM_WIDTH + NUMBER_WIDTH + heads * (size + Math.min(GAP + 4, GAP + tokens - 1)));
  const names = size < MIN_NAMED ? 8 : NAMES;
  return <Model width={wide} height={height || layers * (Math.max(size, 8) + names) + 44} />;
}
