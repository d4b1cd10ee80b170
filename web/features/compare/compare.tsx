// The current run and the pinned run: side by side, or their difference.

import type { ViewProps } from '../../drawing/types.ts';
import { isOpen } from '../../model/training/settings.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { Picture } from '../heatmap/feature.ts';
import { Difference } from './difference.tsx';
import { SideBySide } from './sideBySide.tsx';
import { runPairIn, useCell } from './twoRuns.ts';

export { default as styles } from './compare.css';
export { CompareReading } from './compareReading.tsx';
export { CompareMarks } from './difference.tsx';

export function Compare({ width, height, most, compact = false, free = false }: ViewProps) {
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
