// The panels of the reading column, by the name in state.panel.

import { later } from '../ui/lazy.jsx';
import { Reading } from './reading/reading.jsx';
import { viewOf } from './views.js';

/** @import { Run } from '../store/types.js' */

const AblationPanel = later(() => import('./heads/ablationPanel.jsx'), 'AblationPanel');
const Story = later(() => import('./story/story.jsx'), 'Story');
const Charts = later(() => import('./train/train.jsx'), 'Charts');
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
 * @param {{ panel: string, view: string }} state
 * @param {Run | null} run
 */
export function panelFor({ panel, view }, run) {
  const found = PANELS.find(({ name }) => name === panel) ?? PANELS[0];
  return (found === PANELS[0] && viewOf(view, run).Reading) || found.Component;
}
