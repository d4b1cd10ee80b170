// The model as a diagram: a row of heads for each layer, from the bottom up, with the residual stream on the left.

import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { About } from '../../model/protocol/protocol.ts';
import { gapIn } from '../../model/storySteps.ts';
import { TRICK } from '../../model/trial.ts';
import { isEmpty } from '../../model/viewRules.ts';
import { type Layout, layoutOf } from '../../parts/headLayout.ts';
import { Thumbnail, walkHeads } from '../../parts/thumbnail.tsx';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { roleName, shownRole } from '../../store/shownRoles.ts';
import { MIN_PICTURE, namesWithRoom, nameWidth } from '../../ui/layout.ts';
import { px } from '../../ui/px.ts';
import { HeadsLens, type PointedHead } from '../heatmap/feature.ts';
import { CutLine } from '../story/feature.ts';
import { SortMenu, useOrder } from './headOrder.tsx';
import { ResidualStream } from './residualStream.tsx';

export function Model({
  width,
  height,
  names = true,
  letter = 12,
}: {
  width: number;
  /** height of the room, at whose bottom the model is aligned with the bottom of the picture */
  height: number;
  /** true if layers, heads, tokens and the next token have names */
  names?: boolean;
  /** font size of the names */
  letter?: number;
}) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const about = session.about.value;
  const order = useOrder();
  if (!about || !(width > 0 && height > 0)) return <section class="model" style={px({ height })} />;
  const gap = gapIn(session.state.value);
  const roles = Object.values(about.terms?.[session.language.value] ?? {}).map(([name]) => nameWidth(name, letter));
  const tokens = run ? Math.max(run.T, run.S) : undefined;
  const layout = layoutOf(
    { layers: about.layers, heads: about.heads, tokens, name: Math.max(0, ...roles) },
    { width, height, names, letter },
    { size: gap, below: TRICK.to.layer },
  );
  const { middle } = layout;
  return (
    <section
      class={`model ${isEmpty(run) ? 'blank' : ''}`}
      style={px({ height: layout.height, width, marginTop: layout.top })}
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

/** The rows of heads. If the thumbnails are too small to be read, a lens enlarges those under the pointer. */
function Heads({
  about,
  layout,
  order,
  letter,
  width,
}: {
  about: About;
  layout: Layout;
  order: number[][] | null;
  letter: number;
  width: number;
}) {
  const session = useSession();
  const [pointed, setPointed] = useState(null as PointedHead | null);
  const { layers, heads } = about;
  const { size, left, across, down, columns, rowTop } = layout;
  const isTiled = size < MIN_PICTURE;
  const rooms = !layout.named ? null : roomsForNames(session, about, order, { columns, across, letter });
  const point = (event: { target: EventTarget | null }) => {
    const name = isTiled && (event.target as Element).closest?.<HTMLElement>('[data-head]')?.dataset.head;
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

function LayerName({ layer, layout: { isNumbered, middle } }: { layer: number; layout: Layout }) {
  const words = useSession().words.value;
  if (!isNumbered) return null;
  return (
    <span class="layer-name" title={words.layer(layer)} style={px({ '--middle': middle(layer) })}>
      {layer}
    </span>
  );
}

/** Minimum size of a thumbnail that has the number of its head, if the heads are not in the order of their numbers. */
const MIN_NUMBERED = 28;

function LayerHeads({
  layer,
  heads,
  layout,
  order,
  rooms,
}: {
  layer: number;
  heads: number;
  layout: Layout;
  order: number[][] | null;
  rooms: boolean[] | undefined;
}) {
  const { size, left, across, down, spare, columns, rowTop, inset } = layout;
  return Array.from({ length: heads }, (_, head) => {
    const place = order?.[layer].indexOf(head) ?? head;
    return (
      <Fragment key={head}>
        <Thumbnail
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
        {order && size >= MIN_NUMBERED && (
          <span
            class="head-number"
            aria-hidden="true"
            style={px({ left: left + (place % columns) * across + size, top: rowTop(layer, place) + inset })}
          >
            {`${layer}.${head}`}
          </span>
        )}
      </Fragment>
    );
  });
}

/** Returns, by layer and position in the row, true if the name of the head does not overlap another name. */
function roomsForNames(
  session: Session,
  { layers, heads }: About,
  order: number[][] | null,
  { columns, across, letter }: { columns: number; across: number; letter: number },
) {
  const state = session.state.value;
  return Array.from({ length: layers }, (_, layer) => {
    const headAt = (place: number) => order?.[layer][place] ?? place;
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
