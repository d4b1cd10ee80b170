// The views of the large picture. Each is given the room that it has; see picture.jsx for what it is to do. A view
// may take the model's place as well (grows), say what its colours mean (Marks), and stand beside a reading of its own.

import { Adds } from './adds.jsx';
import { Flow, FlowMarks } from './flow.jsx';
import { Lines } from './lines.jsx';
import { Picture } from './picture.jsx';

/** @typedef {import('preact').ComponentType<any>} Component */
/**
 * @type {{ name: 'heatmap' | 'lines' | 'flow', Component: Component, grows?: boolean, Marks?: Component,
 *   Reading?: Component }[]}
 */
export const VIEWS = [
  { name: 'heatmap', Component: Picture },
  { name: 'lines', Component: Lines },
  { name: 'flow', Component: Flow, grows: true, Marks: FlowMarks, Reading: Adds },
];
export const viewNamed = (name) => VIEWS.find((view) => view.name === name) ?? VIEWS[0];
