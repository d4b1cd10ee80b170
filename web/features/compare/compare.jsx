// The current run and the pinned run: side by side, or their difference.

import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { Picture } from '../heatmap/heatmap.jsx';
import { isOpen } from '../train/settings.js';
import { Difference } from './difference.jsx';
import { SideBySide } from './sideBySide.jsx';
import { runPairIn, useCell } from './twoRuns.js';

export { default as styles } from './compare.css';
export { CompareReading } from './compareReading.jsx';
export { CompareMarks } from './difference.jsx';

/** @import { ViewProps } from '../heatmap/types.js' */

/** @param {ViewProps} props */
export function Compare({ width, height, most, compact = false, free = false }) {
  const session = useSession();
  const runs = runPairIn(session);
  const read = useCell(runs);
  const state = session.state.value;
  // A model in training is shown alone if there is no run from before the training to compare it with.
  if (isOpen(state) && !runs) return <Picture width={width} height={height} most={most} compact={compact} />;
  const room = { width, height, most, compact, free };
  return (
    <div class="compare" data-way={state.versus}>
      {!runs || width <= 0 || height <= 0 ? (
        <div style={px({ height })} />
      ) : runs.old && state.versus === 'difference' && !isOpen(state) ? (
        <Difference runs={{ ...runs, old: runs.old }} read={read} room={room} />
      ) : (
        <SideBySide runs={runs} read={read} room={room} />
      )}
    </div>
  );
}
