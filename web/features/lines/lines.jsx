// The same weights as lines: the tokens that ask on the right, those that answer on the left.

import { px, useSession, weightText } from '../../ui/context.js';
import { Corner } from '../heatmap/headTitle.jsx';
import { measure, usePicture } from '../heatmap/heatmap.jsx';
import { useColours } from '../heatmap/useColours.js';
import { spokenName } from '../prompt/tokens.js';

/** Names closer to each other than this cannot be read: those of the line that is read stand alone. */
const NAMED = 9;
/** Lines thinner than this share say nothing. */
const LEAST = 0.02;

export function Lines({ width, height, most, compact = false }) {
  const session = useSession();
  const words = session.words.value;
  const picture = usePicture({ width, height, most });
  const at = session.cell.value;
  if (!picture || !at) return <div class="picture" style={px({ height })} />;
  const { run, weights, names, keys, T, S } = picture;
  const ramp = useColours();
  const top = Math.min(90, 0.15 * height);
  const pitch = (height - top) / Math.max(T, S);
  const size = Math.min(Math.max(0.62 * pitch, 8), most);
  const widest = (all) => all.reduce((found, name) => Math.max(found, measure(name, size)), 0);
  const margin = (all) => Math.min(Math.ceil(1.1 * widest(all)) + 10, 0.24 * width);
  const [from, to] = [margin(keys), width - margin(names)];
  const middle = (i) => top + (i + 0.5) * pitch;
  const line = (t, s) => {
    const bend = (to - from) / 2;
    return `M${from} ${middle(s)}C${from + bend} ${middle(s)} ${to - bend} ${middle(t)} ${to} ${middle(t)}`;
  };
  const all = [];
  for (let t = 0; t < T; t++) for (let s = 0; s < S; s++) if (weights[t * S + s] >= LEAST) all.push([t, s]);
  const others = all.filter(([t]) => t !== at.t);
  const mine = all.filter(([t]) => t === at.t).sort(([, a], [, b]) => weights[at.t * S + a] - weights[at.t * S + b]);
  return (
    <div class="picture" style={px({ height })}>
      <svg
        class={`lines ${pitch < NAMED ? 'dense' : ''}`}
        width={width}
        height={height}
        role="img"
        aria-label={words.picture(words.headInText(run.layer, run.head))}
        style={px({ fontSize: size })}
      >
        <title>
          {words.cell(spokenName(names, at.t), spokenName(keys, at.s), weightText(weights[at.t * S + at.s]))}
        </title>
        <g class="rest">
          {others.map(([t, s]) => (
            <path key={`${t}.${s}`} d={line(t, s)} stroke={ramp.css(weights[t * S + s])} stroke-width={1} />
          ))}
        </g>
        {mine.map(([t, s]) => (
          <path
            key={`${t}.${s}`}
            d={line(t, s)}
            stroke={ramp.css(weights[t * S + s])}
            stroke-width={1 + 6 * weights[t * S + s]}
          />
        ))}
        {keys.map((name, i) => (
          <text
            key={`k${i}`}
            class={i === at.s ? 'answers' : ''}
            x={from - 8}
            y={middle(i)}
            text-anchor="end"
            onPointerEnter={() => session.setHover({ t: Math.max(at.t, i), s: i })}
          >
            {name}
          </text>
        ))}
        {names.map((name, i) => (
          <text
            key={`q${i}`}
            class={i === at.t ? 'asks' : ''}
            x={to + 8}
            y={middle(i)}
            onPointerEnter={() => session.setHover({ t: i, s: -1 })}
            onClick={() => session.look({ cell: { t: i, s: at.s } })}
          >
            {name}
          </text>
        ))}
      </svg>
      <Corner
        picture={{ ...picture, above: true, stacked: false, full: true, x: 0, y: 0, wide: width }}
        compact={compact}
      />
    </div>
  );
}
