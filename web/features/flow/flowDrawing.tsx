// The drawing of flow: ribbons, bars of contributions against the token, lines between heads, and lines from tokens.

import { RAMP } from '../../drawing/colourRamp.ts';
import { weightsOf } from '../../model/derivation.ts';
import { useSession } from '../../store/context.ts';
import { PALETTE } from '../../ui/palette.ts';
import type { FlowDrawing } from './flow.tsx';
import type { Line, Node } from './flowLayout.ts';
import { attendedBy } from './flowTokens.ts';
import { COLOURS, isPicked, nameOf, pick, sameComposition } from './pickedPart.ts';

export function Drawing({ flow }: { flow: FlowDrawing }) {
  const { lines, parts, scale, width, height } = flow;
  return (
    <svg class="flow-drawing" width={width} height={height} aria-hidden="true">
      <Ribbons flow={flow} />
      {parts
        .filter(({ shown, value }) => shown && value < 0)
        .map((part) => (
          <Against key={nameOf(part)} part={part} scale={scale} />
        ))}
      <Attended flow={flow} />
      {lines.map((line) => (
        <CompositionLine key={lineName(line)} line={line} />
      ))}
    </svg>
  );
}

function Ribbons({ flow: { ribbons, run } }: { flow: FlowDrawing }) {
  const session = useSession();
  const theme = session.theme.value;
  const picked = session.picked.value;
  const state = session.state.value;
  const most = Math.max(...ribbons.map(({ value }) => value), 1e-9);
  const sum = Math.max(run.added.sum, most);
  // The colour is limited, so that a ribbon is neither invisibly pale nor as dark as a weight of 1.
  const colourOf = (value: number) => RAMP[theme].css(Math.min(Math.max(value / sum, 0.22), 0.9));
  return ribbons.map((ribbon) => (
    <path
      key={nameOf(ribbon)}
      class={`ribbon ${isPicked(ribbon, picked, state) ? 'picked' : ''}`}
      data-part={nameOf(ribbon)}
      d={ribbon.d}
      fill={ribbon.kind === 'rest' ? PALETTE[theme].ink3 : colourOf(ribbon.value)}
      onClick={() => pick(session, ribbon)}
    />
  ));
}

/** Draws a negative contribution as a bar above its part. */
function Against({ part, scale }: { part: Node; scale: number }) {
  const session = useSession();
  const width = Math.max(-part.value * scale, 1.5);
  return (
    <rect
      class="against"
      data-part={nameOf(part)}
      x={part.kind === 'embed' ? part.x - 3 : part.x + part.width / 2 - width / 2}
      y={part.y - 12}
      width={width}
      height={9}
      onClick={() => pick(session, part)}
    />
  );
}

const lineName = ({ from, to, kind }: Line) => `${from.layer}.${from.head}-${to.layer}.${to.head}${kind}`;

function CompositionLine({ line }: { line: Line }) {
  const session = useSession();
  const picked = session.picked.value;
  const on = picked?.kind === 'line' && sameComposition(picked.composition, line);
  return (
    <g class={`composition ${COLOURS[line.kind]} ${on ? 'picked' : ''}`}>
      <path class="halo" d={line.d} stroke-width={line.width + 3} />
      <path class="line" d={line.d} stroke-width={line.width} />
      <path
        class="touch"
        data-line={lineName(line)}
        d={line.d}
        onClick={() => session.pick(on ? null : { kind: 'line', composition: line })}
      />
    </g>
  );
}

/** Draws lines from the tokens that the chosen head attends to at the last token. */
function Attended({ flow }: { flow: FlowDrawing }) {
  const session = useSession();
  const { layer, head } = session.state.value;
  const ramp = RAMP[session.theme.value];
  const { run } = flow;
  const row = (weightsOf(run, run.layer, run.head) as Float32Array).subarray((run.T - 1) * run.S, run.T * run.S);
  return (
    <g class="attended">
      {attendedBy(flow, { layer, head }, row, flow.feet).map(({ s, d, width }) => (
        <path key={s} d={d} stroke={ramp.css(Math.max(row[s], 0.2))} stroke-width={width} />
      ))}
    </g>
  );
}
