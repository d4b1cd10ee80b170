// The line from one head to the keys of another head, in the gap that opens between their layers. A switch cuts the
// line.

import { lineKey, type Place, TRICK } from '../../model/trial.ts';
import type { Layout } from '../../parts/headLayout.ts';
import { Switch } from '../../parts/headSwitch.tsx';
import { useSession, useTexts } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { saidIn } from './predictions.ts';
import { TEXTS } from './texts.ts';

export type { Layout } from '../../parts/headLayout.ts';
export { default as styles } from './cutLine.css';

/**
 * In CSS pixels: half the size of the switch with its touch area, width of the text next to the switch, and distance of
 * a frame from its head.
 */
const [SWITCH, TEXT, FRAME] = [22, 150, 3];

export function CutLine({ layout, order, width }: { layout: Layout; order: number[][] | null; width: number }) {
  const session = useSession();
  const words = useTexts(TEXTS);
  const { trial, step } = session.state.value;
  const { size, left, across, down, named, inset, rowTop } = layout;
  const { from, to } = TRICK;
  const centre = ({ layer, head }: Place) => left + (order?.[layer].indexOf(head) ?? head) * across + size / 2;
  const [x0, y0] = [centre(from), rowTop(from.layer) + inset - FRAME];
  const [x1, y1] = [centre(to), rowTop(to.layer) + (named ? down - 2 : inset + size + FRAME)];
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const key = lineKey(TRICK);
  const on = !(key in trial);
  const name = `${to.layer}.${to.head}`;
  return (
    <div class="cut-line">
      <svg width={width} height={layout.height} aria-hidden="true">
        <rect x={x0 - size / 2 - FRAME} y={y0} width={size + 2 * FRAME} height={size + 2 * FRAME} />
        <path d={`M${x0} ${y0}Q${x0} ${y} ${x} ${y}`} />
        <path class={on ? '' : 'pale'} d={`M${x} ${y}Q${x1} ${y} ${x1} ${y1}`} />
        {x - SWITCH - 6 > TEXT && (
          <text class="feeds" x={x - SWITCH - 6} y={y + 4}>
            {words.feeds(name)}
          </text>
        )}
        {!on && (
          <text x={x + SWITCH + 6} y={y + 4}>
            {words.isCut}
          </text>
        )}
      </svg>
      <Switch
        name={words.line(`${from.layer}.${from.head}`, name)}
        on={on}
        disabled={saidIn(step, 0, session.storyLog.value) === undefined}
        turn={() => session.update({ trial: on ? { [key]: 0 } : {} })}
        style={px({ left: x - SWITCH, top: y - SWITCH })}
      />
    </div>
  );
}
