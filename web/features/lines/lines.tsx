// The weights as lines between two columns of tokens: keys on the left, queries on the right.

import { maxTextWidth } from '../../drawing/textWidth.ts';
import type { Cell, Picture, ViewProps } from '../../drawing/types.ts';
import { weightText } from '../../model/numbers.ts';
import { spokenName } from '../../model/tokens.ts';
import { HeadTitle } from '../../parts/headTitle.tsx';
import { useColours } from '../../parts/useColours.ts';
import { usePicture } from '../../parts/usePicture.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';

/** If names are closer to each other than this many pixels, only the names of the line that is read are visible. */
const MIN_NAME_PITCH = 9;
/** Minimum weight of a line. */
const MIN_WEIGHT = 0.02;
/** Maximum height of the title, in pixels and as a share of the view's height. */
const [TITLE_HEIGHT, TITLE_SHARE] = [90, 0.15];
/** Pixels from a name to the ends of its lines. */
const NAME_GAP = 8;

/** The positions of the lines, in CSS pixels. */
export type Layout = {
  width: number;
  height: number;
  /** distance from one name to the next */
  pitch: number;
  fontSize: number;
  /** x at which the lines begin */
  left: number;
  /** x at which the lines end */
  right: number;
  /** y of the middle of a token's name */
  middle: (i: number) => number;
};

function layoutOf({ names, keys, T, S }: Picture, { width, height, most }: ViewProps): Layout {
  const top = Math.min(TITLE_HEIGHT, TITLE_SHARE * height);
  const pitch = (height - top) / Math.max(T, S);
  const fontSize = Math.min(Math.max(0.62 * pitch, 8), most);
  const margin = (texts: string[]) => Math.min(Math.ceil(1.1 * maxTextWidth(texts, fontSize)) + 10, 0.24 * width);
  return {
    width,
    height,
    pitch,
    fontSize,
    left: margin(keys),
    right: width - margin(names),
    middle: (i) => top + (i + 0.5) * pitch,
  };
}

export function Lines({ width, height, most, compact = false }: ViewProps) {
  const session = useSession();
  const picture = usePicture({ width, height, most });
  const read = session.cell.value;
  if (!picture || !read) return <div class="picture" style={px({ height })} />;
  const titled = { ...picture, above: true, stacked: false, x: 0, y: 0, matrixWidth: width };
  return (
    <div class="picture" style={px({ height })}>
      <Drawing picture={picture} read={read} layout={layoutOf(picture, { width, height, most })} />
      <HeadTitle picture={titled} compact={compact} />
    </div>
  );
}

function Drawing({ picture, read, layout }: { picture: Picture; read: Cell; layout: Layout }) {
  const words = useSession().words.value;
  const { run, weights, names, keys, S } = picture;
  const { width, height, pitch, fontSize } = layout;
  const weight = weightText(weights[read.t * S + read.s]);
  return (
    <svg
      class={`lines ${pitch < MIN_NAME_PITCH ? 'dense' : ''}`}
      width={width}
      height={height}
      role="img"
      aria-label={words.picture(words.headInText(run.layer, run.head))}
      style={px({ fontSize })}
    >
      <title>{words.cell(spokenName(names, read.t), spokenName(keys, read.s), weight)}</title>
      <Curves picture={picture} read={read} layout={layout} />
      <Names picture={picture} read={read} layout={layout} />
    </svg>
  );
}

/** Draws a line for each weight. The lines of the query that is read are above all others. */
function Curves({
  picture: { weights, T, S },
  read,
  layout: { left, right, middle },
}: {
  picture: Picture;
  read: Cell;
  layout: Layout;
}) {
  const ramp = useColours();
  const weightOf = ({ t, s }: Cell) => weights[t * S + s];
  const curve = ({ t, s }: Cell) => {
    const bend = (right - left) / 2;
    return `M${left} ${middle(s)}C${left + bend} ${middle(s)} ${right - bend} ${middle(t)} ${right} ${middle(t)}`;
  };
  const lines = [];
  for (let t = 0; t < T; t++) for (let s = 0; s < S; s++) if (weightOf({ t, s }) >= MIN_WEIGHT) lines.push({ t, s });
  const others = lines.filter(({ t }) => t !== read.t);
  const fromRead = lines.filter(({ t }) => t === read.t).sort((a, b) => weightOf(a) - weightOf(b));
  const line = (cell: Cell, width: number) => (
    <path key={`${cell.t}.${cell.s}`} d={curve(cell)} stroke={ramp.css(weightOf(cell))} stroke-width={width} />
  );
  return (
    <>
      <g class="rest">{others.map((cell) => line(cell, 1))}</g>
      {fromRead.map((cell) => line(cell, 1 + 6 * weightOf(cell)))}
    </>
  );
}

function Names({
  picture: { names, keys },
  read,
  layout: { left, right, middle },
}: {
  picture: Picture;
  read: Cell;
  layout: Layout;
}) {
  const session = useSession();
  return (
    <>
      {keys.map((name, i) => (
        <text
          key={`k${i}`}
          class={i === read.s ? 'is-key' : ''}
          x={left - NAME_GAP}
          y={middle(i)}
          text-anchor="end"
          onPointerEnter={() => session.setHover({ t: Math.max(read.t, i), s: i })}
        >
          {name}
        </text>
      ))}
      {names.map((name, i) => (
        <text
          key={`q${i}`}
          class={i === read.t ? 'is-query' : ''}
          x={right + NAME_GAP}
          y={middle(i)}
          onPointerEnter={() => session.setHover({ t: i, s: -1 })}
          onClick={() => session.look({ cell: { t: i, s: read.s } })}
        >
          {name}
        </text>
      ))}
    </>
  );
}
