// The panels of the reading column. The name of a panel is the value of state.panel.

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
 * Returns the component of a panel. A view may replace the panel that explains a cell with its own.
 * @param {State} state
 * @param {Run | null} run
 */
export function panelFor(state, run) {
  const { panel, view, cell } = state;
  const found = PANELS.find(({ name }) => name === panel) ?? PANELS[0];
  if (found === PANELS[0] && state.sum && view === 'heatmap') return SumPanel;
  // While a cell is chosen, the panel explains this cell, so it does not show the written words.
  if (found === PANELS[0] && !cell && showsWritten(state, run)) return WrittenPanel;
  return (found === PANELS[0] && viewOf(view, run).Reading) || found.Component;
}
