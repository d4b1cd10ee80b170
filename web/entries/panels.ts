// The panels of the reading column. The name of a panel is the value of state.panel.

import { AblationPanel, HeadTable } from '../features/heads/feature.ts';
import { Reading } from '../features/reading/feature.ts';
import { Story } from '../features/story/feature.ts';
import { SumPanel } from '../features/sums/feature.ts';
import { Charts } from '../features/train/feature.ts';
import { WrittenPanel } from '../features/written/feature.ts';
import type { State } from '../model/state.ts';
import type { Run } from '../model/types.ts';
import { showsWritten } from '../model/viewRules.ts';
import { viewOf } from './views.ts';

export const PANELS = [
  { name: 'reading', Component: Reading },
  { name: 'story', Component: Story },
  { name: 'train', Component: Charts },
  { name: 'tried', Component: AblationPanel },
  { name: 'table', Component: HeadTable },
];
/** Returns the component of a panel. A view may replace the panel that explains a cell with its own. */
export function panelFor(state: State, run: Run | null) {
  const { panel, view, cell } = state;
  const found = PANELS.find(({ name }) => name === panel) ?? PANELS[0];
  if (found === PANELS[0] && state.sum && view === 'heatmap') return SumPanel;
  // While a cell is chosen, the panel explains this cell, so it does not show the written words.
  if (found === PANELS[0] && !cell && showsWritten(state, run)) return WrittenPanel;
  return (found === PANELS[0] && viewOf(view, run).Reading) || found.Component;
}
