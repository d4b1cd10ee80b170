// The views of the large picture. Each is given the room that it has; see picture.jsx for what it is to do.

import { Lines } from './lines.jsx';
import { Picture } from './picture.jsx';

/** @type {{ name: 'heatmap' | 'lines' | 'flow', Component: import('preact').ComponentType<any> }[]} */
export const VIEWS = [
  { name: 'heatmap', Component: Picture },
  { name: 'lines', Component: Lines },
];
export const viewNamed = (name) => VIEWS.find((view) => view.name === name) ?? VIEWS[0];
