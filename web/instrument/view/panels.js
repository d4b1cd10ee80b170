// What stands in the reading column, by the name in state.panel.

import { Reading } from './reading.jsx';

export const PANELS = [{ name: 'reading', Component: Reading }];
export const panelNamed = (name) => PANELS.find((panel) => panel.name === name) ?? PANELS[0];
