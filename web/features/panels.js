// The panels of the reading column, by the name in state.panel.

import { later } from '../ui/lazy.jsx';
import { Reading } from './reading/reading.jsx';
import { showsWritten } from './viewRules.js';
import { viewOf } from './views.js';

/** @import { State } from '../store/state.js' */
/** @import { Run } from '../store/types.js' */

const AblationPanel = later(() => import('./heads/ablationPanel.jsx'), 'AblationPanel');
const Story = later(() => import('./story/story.jsx'), 'Story');
const Charts = later(() => import('./train/train.jsx'), 'Charts');
const WrittenPanel = later(() => import('./written/written.jsx'), 'WrittenPanel');
const SumPanel = later(() => import('./sums/sums.jsx'), 'SumPanel');
const HeadTable = later(() => import('./heads/headTable.jsx'), 'HeadTable');

export const PANELS = [
  { name: 'reading', Component: Reading },
  { name: 'story', Component: Story },
  { name: 'train', Component: Charts },
  { name: 'tried', Component: AblationPanel },
  { name: 'table', Component: HeadTable },
];
/**
 * The component of a panel. A view may replace the reading of a cell by its own.
 * @param {State} state
 * @param {Run | null} run
 */
export function panelFor(state, run) {
  const { panel, view, cell } = state;
  const found = PANELS.find(({ name }) => name === panel) ?? PANELS[0];
  if (found === PANELS[0] && state.sum && view === 'heatmap') return SumPanel;
  // A chosen cell is explained.
  if (found === PANELS[0] && !cell && showsWritten(state, run)) return WrittenPanel;
  return (found === PANELS[0] && viewOf(view, run).Reading) || found.Component;
}
