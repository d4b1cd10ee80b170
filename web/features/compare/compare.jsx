// This run and the pinned one: side by side, or their difference.

import { px, useSession } from '../../ui/context.js';
import { Picture } from '../heatmap/heatmap.jsx';
import { isOpen } from '../train/lessons.js';
import { Difference } from './difference.jsx';
import { SideBySide } from './sideBySide.jsx';
import { bothIn, useCell } from './twoRuns.js';

export { default as styles } from './compare.css';
export { CompareReading } from './compareReading.jsx';
export { CompareMarks } from './difference.jsx';

/** @import { ViewProps } from '../heatmap/types.js' */

/** @param {ViewProps} props */
export function Compare({ width, height, most, compact = false, free = false }) {
  const session = useSession();
  const both = bothIn(session);
  const read = useCell(both);
  const state = session.state.value;
  if (isOpen(state)) return <Picture width={width} height={height} most={most} compact={compact} />;
  const room = { width, height, most, compact, free };
  return (
    <div class="compare" data-way={state.versus}>
      {!both || width <= 0 || height <= 0 ? (
        <div style={px({ height })} />
      ) : both.old && state.versus === 'difference' ? (
        <Difference both={{ ...both, old: both.old }} read={read} room={room} />
      ) : (
        <SideBySide both={both} read={read} room={room} />
      )}
    </div>
  );
}
