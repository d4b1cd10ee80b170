// What stands in the reading column, by the name in state.panel.

import { Reading } from './reading.jsx';
import { Story } from './story.jsx';
import { Charts } from './train.jsx';

export const PANELS = [
  { name: 'reading', Component: Reading },
  { name: 'story', Component: Story },
  { name: 'train', Component: Charts },
];
export const panelNamed = (name) => PANELS.find((panel) => panel.name === name) ?? PANELS[0];
