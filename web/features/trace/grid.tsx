// The grid of a trace: tokens × layers, with three rows for each layer, and next to it a cell for each single head.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import { sized } from '../../drawing/paintWeights.ts';
import { ROWS, type Trace } from '../../model/trace/places.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { useLengths } from '../../ui/lengths.ts';
import type { Theme } from '../../ui/palette.ts';
import { px } from '../../ui/px.ts';
import { useSize } from '../../ui/useSize.ts';
import { paintCells } from './paintTrace.ts';
import { type Box, type Layout, labelStep, layoutOf } from './traceLayout.ts';
import { chosenIn, openInstrument, textsIn, togglePatch } from './traceState.ts';
import type { GridKeys } from './useTraceKeys.ts';
export type Ref = RefObject<HTMLDivElement | null>;

/** Minimum width of a head at which each head has a number. */
const MIN_NUMBER = 20;

export function Grid({ trace, grid, narrow }: { trace: Trace; grid: GridKeys; narrow: boolean }) {
  const session = useSession();
  const own = textsIn(session);
  const [tokens, heads] = [useRef(null as HTMLDivElement | null), useRef(null as HTMLDivElement | null)];
  const { width, height } = useSize(tokens);
  const headsSize = useSize(heads);
  const { shape, rows } = grid;
  if (!shape) return null;
  const layout = layoutOf(shape, { width, height: height || headsSize.height, headsWidth: headsSize.width });
  const block = { trace, layout, grid };
  return (
    <div
      class={`trace-grid ${rows.length === 0 ? 'only-heads' : ''}`}
      style={{ '--layers': trace.layers, '--count': shape.places.length, '--heads': shape.heads }}
    >
      {grid.isSplit && <PartChoice grid={grid} />}
      <Layers trace={trace} step={layout.step} short={narrow} />
      {!narrow && <Bare trace={trace} names={!grid.isSplit} own={own} />}
      {rows.length > 0 && <p class="block-title over-tokens">{narrow ? '' : own.eachToken}</p>}
      {rows.length > 0 && <Block {...block} area={tokens} kind="tokens" at={layout.placeAt} />}
      {shape.heads > 0 && <p class="block-title over-heads">{own.eachHead}</p>}
      {shape.heads > 0 && <Block {...block} area={heads} kind="heads" at={layout.headAt} />}
      {shape.heads > 0 && <HeadNumbers count={shape.heads} width={headsSize.width} />}
      {narrow && rows.length > 0 && <Feet trace={trace} places={shape.places} />}
    </div>
  );
}

function PartChoice({ grid: { part, setPart, parts } }: { grid: GridKeys }) {
  const own = textsIn(useSession());
  return (
    <span class="choice trace-parts" role="group" aria-label={own.partOf}>
      {[...ROWS, 'head' as const]
        .filter((name) => parts.includes(name))
        .map((name) => (
          <button key={name} type="button" class="word" aria-pressed={name === part} onClick={() => setPart(name)}>
            {own.parts[name]}
          </button>
        ))}
    </span>
  );
}

/** The names of the layers, as many as have room. */
function Layers({ trace: { layers }, step, short }: { trace: Trace; step: number; short: boolean }) {
  const session = useSession();
  const own = textsIn(session);
  const { small } = useLengths();
  const every = labelStep(step, small);
  const place = session.tracedPlace.value ?? chosenIn(session);
  return (
    <div class="trace-layers" aria-hidden="true">
      {Array.from({ length: layers }, (_, i) => layers - 1 - i).map((layer) => (
        <span key={layer} class={layer === place?.layer ? 'here' : ''}>
          {(layer % every === 0 || layer === place?.layer) && (short ? layer : own.layer(layer))}
        </span>
      ))}
    </div>
  );
}

/** The area before the first word that differs, where both sentences are equal. */
function Bare({
  trace: { layers, first, cells },
  names,
  own,
}: {
  trace: Trace;
  names: boolean;
  own: ReturnType<typeof textsIn>;
}) {
  return (
    <div class="trace-bare" aria-hidden="true">
      {Array.from({ length: layers }, (_, layer) => (
        <span key={layer} />
      ))}
      {first > 0 && <em>{own.same}</em>}
      {names && (
        <span class="row-names">
          {ROWS.filter((part) => part in cells).map((part) => (
            <small key={part}>{own.parts[part]}</small>
          ))}
        </span>
      )}
    </div>
  );
}

/** One of the two blocks of cells. The first block handles the keyboard. */
function Block({
  trace,
  layout,
  grid,
  area,
  kind,
  at,
}: {
  trace: Trace;
  layout: Layout;
  grid: GridKeys;
  area: Ref;
  kind: 'tokens' | 'heads';
  at: (x: number, y: number) => GridPlace | null;
}) {
  const session = useSession();
  const own = textsIn(session);
  const canvas = useCellCanvas(trace, layout, grid, area, kind);
  const placeOf = ({ clientX, clientY }: PointerEvent | MouseEvent) => {
    const { left, top } = (area.current as HTMLDivElement).getBoundingClientRect();
    return at(clientX - left, clientY - top);
  };
  const hasKeys = kind === 'tokens' || grid.rows.length === 0;
  const keys = hasKeys
    ? {
        id: 'picture',
        role: 'application' as const,
        'aria-label': own.gridAbout,
        tabIndex: 0,
        onKeyDown: grid.onKey,
      }
    : { role: 'img' as const, 'aria-label': own.eachHead };
  const point = (place: GridPlace | null) => {
    const old = session.tracedPlace.value;
    if (JSON.stringify(place) !== JSON.stringify(old)) session.pointTrace(place);
  };
  return (
    <div
      class={`trace-cells ${kind}`}
      ref={area}
      {...keys}
      onPointerMove={(event) => event.pointerType !== 'touch' && point(placeOf(event))}
      onPointerLeave={(event) => event.pointerType !== 'touch' && point(null)}
      onClick={(event) => press(session, placeOf(event))}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <Frames layout={layout} kind={kind} heads={trace.heads} />
    </div>
  );
}

/** Patches the place that is pressed, or opens the instrument there if the place is already patched. */
function press(session: Session, place: GridPlace | null) {
  if (!place) return;
  const chosen = chosenIn(session);
  session.pointTrace(null);
  if (JSON.stringify(chosen) === JSON.stringify(place)) openInstrument(session, place);
  else togglePatch(session, place);
}

function useCellCanvas(trace: Trace, layout: Layout, { rows, shape }: GridKeys, area: Ref, kind: 'tokens' | 'heads') {
  const session = useSession();
  const theme: Theme = session.theme.value;
  const { small } = useLengths();
  const canvas = useRef(null as HTMLCanvasElement | null);
  const { width, height } = useSize(area);
  useEffect(() => {
    if (!canvas.current || width === 0 || !shape) return;
    const { color, fontFamily } = getComputedStyle(canvas.current);
    const isHeads = kind === 'heads';
    paintCells(sized(canvas.current, width, height), trace, layout, {
      parts: isHeads ? ['head'] : rows,
      places: isHeads ? Array.from({ length: shape.heads }, (_, head) => head) : shape.places.filter((p) => p >= 0),
      theme,
      ink: color,
      font: fontFamily,
      size: small,
    });
  });
  return canvas;
}

/** Frames of the places that are read and patched; with the heads of a layer patched, of the single heads too. */
function Frames({ layout, kind, heads }: { layout: Layout; kind: 'tokens' | 'heads'; heads: number }) {
  const session = useSession();
  const [pointed, chosen] = [session.tracedPlace.value, chosenIn(session)];
  const isHeads = kind === 'heads';
  const frame = (place: GridPlace | null, look: string) => {
    const box = place && (place.part === 'head') === isHeads ? layout.boxOf(place) : null;
    return box && <span class={`trace-frame ${look}`} style={styleOf(box)} />;
  };
  const layer = chosen?.part === 'heads' && isHeads ? chosen.layer : -1;
  const [from, to] = [0, heads - 1].map((place) => layout.boxOf({ part: 'head', layer, place }));
  return (
    <>
      {layer >= 0 && from && to && (
        <span class="trace-frame whole" style={styleOf({ ...from, width: to.x + to.width })} />
      )}
      {frame(chosen, 'chosen')}
      {frame(pointed, 'pointed')}
    </>
  );
}
const styleOf = ({ x, y, width, height }: Box) => px({ '--x': x, '--y': y, '--width': width, '--height': height });

/** The numbers of the heads. If heads are narrow, only the first, a middle and the last number are shown. */
function HeadNumbers({ count, width }: { count: number; width: number }) {
  const all = Array.from({ length: count }, (_, head) => head);
  const marks = width / count >= MIN_NUMBER ? all : [...new Set([0, Math.floor((count - 1) / 2), count - 1])];
  return (
    <div class="head-numbers" aria-hidden="true">
      {marks.map((head) => (
        <span key={head} style={px({ left: ((head + 0.5) * width) / count })}>
          {head}
        </span>
      ))}
    </div>
  );
}

/** The words below a narrow grid. */
function Feet({ trace: { lower }, places }: { trace: Trace; places: readonly number[] }) {
  const session = useSession();
  const place = session.tracedPlace.value ?? chosenIn(session);
  return (
    <div class="trace-feet" lang="en" aria-hidden="true">
      {places.map((token, i) => (
        <span key={i} class={place?.part !== 'head' && place?.place === token ? 'here' : ''}>
          {lower.pieces[token]?.name ?? '·'}
        </span>
      ))}
    </div>
  );
}
