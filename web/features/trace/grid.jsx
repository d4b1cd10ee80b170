// The grid of a trace: tokens × layers, with three rows for each layer, and next to it a cell for each single head.

import { useEffect, useRef } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { useLengths } from '../../ui/lengths.js';
import { px } from '../../ui/px.js';
import { useSize } from '../../ui/useSize.js';
import { sized } from '../heatmap/paintWeights.js';
import { paintCells } from './paintTrace.js';
import { ROWS } from './places.js';
import { labelStep, layoutOf } from './traceLayout.js';
import { chosenIn, openInstrument, textsIn, togglePatch } from './traceState.js';

/** @import { GridPlace } from '../../../src/js/analysis/patchGrid.js' */
/** @import { Theme } from '../../ui/palette.js' */
/** @import { Trace } from './places.js' */
/** @import { Box, Layout } from './traceLayout.js' */
/** @import { GridKeys } from './useTraceKeys.js' */
/** @typedef {import('preact').RefObject<HTMLDivElement | null>} Ref */

/** Minimum width of a head at which each head has a number. */
const MIN_NUMBER = 20;

/** @param {{ trace: Trace, grid: GridKeys, narrow: boolean }} props */
export function Grid({ trace, grid, narrow }) {
  const session = useSession();
  const own = textsIn(session);
  const [tokens, heads] = [
    useRef(/** @type {HTMLDivElement | null} */ (null)),
    useRef(/** @type {HTMLDivElement | null} */ (null)),
  ];
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

/** @param {{ grid: GridKeys }} props */
function PartChoice({ grid: { part, setPart, parts } }) {
  const own = textsIn(useSession());
  return (
    <span class="choice trace-parts" role="group" aria-label={own.partOf}>
      {[...ROWS, /** @type {const} */ ('head')]
        .filter((name) => parts.includes(name))
        .map((name) => (
          <button key={name} type="button" class="word" aria-pressed={name === part} onClick={() => setPart(name)}>
            {own.parts[name]}
          </button>
        ))}
    </span>
  );
}

/** The names of the layers, as many as have room. @param {{ trace: Trace, step: number, short: boolean }} props */
function Layers({ trace: { layers }, step, short }) {
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

/**
 * The area before the first word that differs, where both sentences are equal.
 * @param {{ trace: Trace, names: boolean, own: ReturnType<typeof textsIn> }} props
 */
function Bare({ trace: { layers, first, cells }, names, own }) {
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

/**
 * One of the two blocks of cells. The first block handles the keyboard.
 * @param {object} props
 * @param {Trace} props.trace
 * @param {Layout} props.layout
 * @param {GridKeys} props.grid
 * @param {Ref} props.area
 * @param {'tokens' | 'heads'} props.kind
 * @param {(x: number, y: number) => GridPlace | null} props.at
 */
function Block({ trace, layout, grid, area, kind, at }) {
  const session = useSession();
  const own = textsIn(session);
  const canvas = useCellCanvas(trace, layout, grid, area, kind);
  const placeOf = (/** @type {PointerEvent | MouseEvent} */ { clientX, clientY }) => {
    const { left, top } = /** @type {HTMLDivElement} */ (area.current).getBoundingClientRect();
    return at(clientX - left, clientY - top);
  };
  const hasKeys = kind === 'tokens' || grid.rows.length === 0;
  const keys = hasKeys
    ? {
        id: 'picture',
        role: /** @type {const} */ ('application'),
        'aria-label': own.gridAbout,
        tabIndex: 0,
        onKeyDown: grid.onKey,
      }
    : { role: /** @type {const} */ ('img'), 'aria-label': own.eachHead };
  const point = (/** @type {GridPlace | null} */ place) => {
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

/**
 * Patches the place that is pressed, or opens the instrument there if the place is already patched.
 * @param {import('../../store/session.js').Session} session @param {GridPlace | null} place
 */
function press(session, place) {
  if (!place) return;
  const chosen = chosenIn(session);
  session.pointTrace(null);
  if (JSON.stringify(chosen) === JSON.stringify(place)) openInstrument(session, place);
  else togglePatch(session, place);
}

/**
 * @param {Trace} trace
 * @param {Layout} layout
 * @param {GridKeys} grid
 * @param {Ref} area
 * @param {'tokens' | 'heads'} kind
 */
function useCellCanvas(trace, layout, { rows, shape }, area, kind) {
  const session = useSession();
  /** @type {Theme} */
  const theme = session.theme.value;
  const { small } = useLengths();
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
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

/**
 * Frames of the place that is read and of the place that is patched. If the heads of a layer are patched, the single
 * heads of that layer have a frame too.
 * @param {{ layout: Layout, kind: 'tokens' | 'heads', heads: number }} props
 */
function Frames({ layout, kind, heads }) {
  const session = useSession();
  const [pointed, chosen] = [session.tracedPlace.value, chosenIn(session)];
  const isHeads = kind === 'heads';
  const frame = (/** @type {GridPlace | null} */ place, /** @type {string} */ look) => {
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
const styleOf = (/** @type {Box} */ { x, y, width, height }) =>
  px({ '--x': x, '--y': y, '--width': width, '--height': height });

/**
 * The numbers of the heads. If heads are narrow, only the first, a middle and the last number are shown.
 * @param {{ count: number, width: number }} props
 */
function HeadNumbers({ count, width }) {
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

/** The words below a narrow grid. @param {{ trace: Trace, places: readonly number[] }} props */
function Feet({ trace: { lower }, places }) {
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
