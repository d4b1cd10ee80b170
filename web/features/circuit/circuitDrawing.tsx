// The drawing of a circuit: the title with the prediction, names of layers, heads and MLPs, edges as lines, and tokens.

import { textWidth } from '../../drawing/textWidth.ts';
import { type Circuit, fewLines, type ShownLine } from '../../model/circuit/shownLines.ts';
import { Thumbnail } from '../../parts/thumbnail.tsx';
import { useSession } from '../../store/context.ts';
import { roleName, shownRole } from '../../store/shownRoles.ts';
import { useLengths } from '../../ui/lengths.ts';
import { px } from '../../ui/px.ts';
import { type Box, type CircuitLayout, type DrawnLine, layoutOf } from './circuitLayout.ts';
import { pointsText, textsIn, toggleCut } from './circuitState.ts';

/** Pixels for the title with the prediction, for the tokens and for names of layers. Below: for a narrow drawing. */
const [TOP, BOTTOM, SIDE] = [96, 44, 72];
const [NARROW_TOP, NARROW_SIDE] = [70, 22];
/** In a drawing narrower than this, layers have only their numbers, and few lines are drawn. */
const NARROW = 560;
/** Widths of an MLP, as multiples of the height of a letter. */
const [PILL, NARROW_PILL] = [8.4, 3.5];
/** Pixels that the title needs next to the prediction. */
const TITLE_ROOM = 360;

export function CircuitDrawing({
  circuit,
  lines,
  all,
  width,
  height,
  compact,
}: {
  circuit: Circuit;
  lines: ShownLine[];
  all: ShownLine[];
  width: number;
  height: number;
  compact: boolean;
}) {
  const session = useSession();
  const own = textsIn(session);
  const { begun } = circuit;
  const narrow = width < NARROW;
  const drawn = narrow ? fewLines(lines) : lines;
  const { small: letter, middle: fontSize } = useLengths();
  const layout = layoutOf({
    lines: drawn,
    all,
    roleOf: ({ layer, head }) => {
      const role = shownRole(session, layer, head);
      const text = role ? roleName(session, role) : '';
      return text ? { text, width: textWidth(text, fontSize) + 4 } : null;
    },
    layers: begun.layers,
    perGroup: begun.perGroup,
    words: begun.pieces.map(({ name }) => textWidth(name, fontSize)),
    ...{ width, height, bottom: BOTTOM },
    top: narrow ? NARROW_TOP : TOP,
    side: narrow ? NARROW_SIDE : SIDE,
    letter,
    pill: letter * (narrow ? NARROW_PILL : PILL),
  });
  return (
    // The drawing handles the keyboard, as the picture of weights does in other views.
    <div
      id="picture"
      class={`circuit-drawing ${narrow ? 'narrow' : ''}`}
      role="group"
      aria-label={own.drawing(lines.length)}
      tabIndex={0}
      onBlur={() => session.circuit.point(null)}
    >
      <Top circuit={circuit} layout={layout} width={width} narrow={narrow} compact={compact} />
      {layout.rows.map(({ layer, y, isThin }) => (
        <LayerName key={layer} layer={layer} y={y} isThin={isThin} narrow={narrow} />
      ))}
      <svg width={width} height={height} aria-hidden="true">
        {layout.rows.map(({ layer, y, isThin }) => (
          <path key={layer} class="row-line" d={`M${narrow ? NARROW_SIDE : SIDE} ${y}H${width}`} data-thin={isThin} />
        ))}
        {[...layout.lines].sort(byPointed(session.circuit.pointed.value)).map((line) => (
          <Line key={line.name} line={line} />
        ))}
      </svg>
      <Parts circuit={circuit} layout={layout} narrow={narrow} />
      {layout.roles.map(({ key, text, x, y }) => (
        <span key={key} class="circuit-role" style={px({ left: x, top: y })}>
          {text}
        </span>
      ))}
      {layout.lines.map((line) => line.figure && <Figure key={line.name} line={line} />)}
      <Tokens circuit={circuit} layout={layout} height={height} fontSize={fontSize} />
      {narrow && all.length > drawn.length && <p class="few">{own.few(drawn.length, all.length)}</p>}
    </div>
  );
}

/** Orders lines so that the line under the pointer is drawn above all others. */
const byPointed = (pointed: string | null) => (a: DrawnLine, b: DrawnLine) =>
  Number(a.name === pointed) - Number(b.name === pointed) || b.width - a.width;

function Top({
  circuit: { begun, cuts },
  layout: { target },
  width,
  narrow,
  compact,
}: {
  circuit: Circuit;
  layout: CircuitLayout;
  width: number;
  narrow: boolean;
  compact: boolean;
}) {
  const session = useSession();
  const own = textsIn(session);
  const { percent } = session.words.value;
  const [word, against] = begun.answers;
  const p = (cuts ? cuts.now : begun.whole).both[0];
  return (
    <div class="circuit-top">
      {!narrow && width - 160 > TITLE_ROOM && (
        <div class="circuit-title">
          <h2>{own.title}</h2>
          {!compact && (
            <p>
              {(begun.paired ? own.about : own.aboutOne)[0]}
              <i lang="en">{word}</i>
              {begun.paired && own.about[1]}
              {begun.paired && <i lang="en">{against}</i>}
              {begun.paired ? own.about[2] : own.aboutOne[1]}
            </p>
          )}
        </div>
      )}
      <p class="circuit-guess" style={px({ '--target': Math.min(target, width - (narrow ? 76 : 96)) })}>
        {cuts && <span class="was">{own.was(percent(begun.whole.both[0]))}</span>} <i lang="en">{word}</i>{' '}
        <span data-name="probability">{percent(p)}</span>
      </p>
    </div>
  );
}

function LayerName({ layer, y, isThin, narrow }: { layer: number; y: number; isThin: boolean; narrow: boolean }) {
  const words = useSession().words.value;
  return (
    <span class={`serif-name circuit-layer ${isThin ? 'thin' : ''}`} style={px({ top: y })}>
      {narrow ? layer : words.layer(layer)}
    </span>
  );
}

/** Returns the event handlers that an edge has both in the drawing and in the list. */
export function usePointing(name: string) {
  const session = useSession();
  return {
    onPointerEnter: () => session.circuit.point(name),
    onPointerLeave: () => session.circuit.point(null),
    onClick: () => toggleCut(session, name),
  };
}

function Line({ line }: { line: DrawnLine }) {
  const { name, d, width, oldWidth, colour, isCut, cost } = line;
  const pointed = useSession().circuit.pointed.value;
  const look = isCut ? 'cut' : pointed === name ? 'pointed' : pointed ? 'dimmed' : '';
  return (
    <g class={`circuit-line ${look}`} data-line={name} data-cost={cost.toFixed(3)} {...usePointing(name)}>
      <path class="halo" d={d} stroke-width={Math.max(width, oldWidth ?? 0) + 5} />
      {oldWidth !== null && !isCut && oldWidth > width + 0.5 && (
        <path class={`line edge ${colour}`} d={d} stroke-width={oldWidth} />
      )}
      <path class={`line ${colour}`} d={d} stroke-width={width} stroke-dasharray={isCut ? '2 4' : undefined} />
      {isCut && <Strokes line={line} />}
      <path class="touch" d={d} />
    </g>
  );
}

/** Draws two strokes across the longest segment of a cut edge. */
function Strokes({ line: { points, width } }: { line: DrawnLine }) {
  const parts = points.slice(1).map(([x, y], i) => ({ a: points[i], b: [x, y] }));
  const length = ({ a, b }: (typeof parts)[number]) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  const { a, b } = parts.reduce((best, part) => (length(part) > length(best) ? part : best));
  const [x, y] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  const reach = width / 2 + 5;
  const isLevel = a[1] === b[1];
  const one = (by: number) =>
    isLevel
      ? `M${x + by - 3} ${y + reach}L${x + by + 3} ${y - reach}`
      : `M${x - reach} ${y + by + 3}L${x + reach} ${y + by - 3}`;
  return <path class="strokes" d={one(-3) + one(3)} />;
}

/** The percentage points that cutting an edge costs, for edges of the chosen head and the edge under the pointer. */
function Figure({ line: { name, cost, figure, isCut, from, to } }: { line: DrawnLine }) {
  const session = useSession();
  const pointed = session.circuit.pointed.value;
  const { layer, head } = session.state.value;
  const isChosen = [from, to].some((node) => isInHead(node) && node.layer === layer && node.head === head);
  if (!figure || isCut || !(isChosen || pointed === name)) return null;
  return (
    <span
      class={`circuit-figure ${pointed && pointed !== name ? 'dimmed' : ''} ${cost <= -10 ? 'much' : ''}`}
      style={px({ left: figure.x, top: figure.y })}
      aria-hidden="true"
    >
      {pointsText(cost)}
    </span>
  );
}

const isInHead = ({ kind }: ShownLine['from'] | ShownLine['to']) =>
  kind !== 'embed' && kind !== 'mlp' && kind !== 'logits';

/** Draws heads and MLPs. */
function Parts({
  circuit: { begun },
  layout: { boxes, size },
  narrow,
}: {
  circuit: Circuit;
  layout: CircuitLayout;
  narrow: boolean;
}) {
  const session = useSession();
  const words = session.words.value;
  const own = textsIn(session);
  const labelOf = ({ second }: Box, name: string) =>
    second === null ? name : own.also(name, begun.pieces[second].name);
  const heads = boxes.filter(({ kind }) => kind === 'head');
  return (
    <>
      {heads.length > 0 && (
        <div role="radiogroup" aria-label={words.models}>
          {heads.map((box) => (
            <HeadPart key={box.key} box={box} size={size} label={labelOf(box, own.head(box.layer, box.head))} />
          ))}
        </div>
      )}
      {boxes
        .filter(({ kind }) => kind === 'mlp')
        .map((box) => (
          <span
            key={box.key}
            class="circuit-pill"
            title={labelOf(box, own.mlp(box.layer))}
            style={px({ left: box.x, top: box.y, width: box.width, height: box.height })}
            aria-hidden="true"
          >
            {narrow ? own.mlpShort(box.layer) : own.mlp(box.layer)}
          </span>
        ))}
    </>
  );
}

function HeadPart({ box: { layer, head, x, y }, size, label }: { box: Box; size: number; label: string }) {
  const session = useSession();
  const place = px({ left: x + size * 0.42, top: y - 3 });
  return (
    <div class="circuit-head">
      <Thumbnail {...{ layer, head, size, left: x, top: y, across: size, down: size }} named={false} />
      <span title={label} style={place} aria-hidden="true" onClick={() => session.update({ layer, head })}>
        {textsIn(session).head(layer, head)}
      </span>
    </div>
  );
}

function Tokens({
  circuit: { begun },
  layout: { columns, boxes, lines },
  height,
  fontSize,
}: {
  circuit: Circuit;
  layout: CircuitLayout;
  height: number;
  fontSize: number;
}) {
  const used = new Set([
    ...boxes.map(({ token }) => token),
    ...lines.filter(({ from }) => from.kind === 'embed').map(({ foot }) => foot),
  ]);
  const last = begun.pieces.length - 1;
  return (
    <div class="circuit-tokens" lang="en" style={px({ top: height - BOTTOM, fontSize })} aria-hidden="true">
      {columns.columns.map(
        ({ t, x, text }) =>
          text && (
            <span key={t} class={`${used.has(t) ? 'used' : ''} ${t === last ? 'query' : ''}`} style={px({ left: x })}>
              {begun.pieces[t].name}
            </span>
          ),
      )}
      {columns.rest.map(({ x }) => (
        <span key={x} style={px({ left: x })}>
          …
        </span>
      ))}
    </div>
  );
}
