// The views of the large picture. Each component receives the size of its area; heatmap.jsx describes its contract.
//   grows    the view also takes the area of the model
//   spreads  it takes the area of both columns, with the reading above it
//   inMenu   it is in the menu of the first word: the pictures of a head, and the text
//   titled   it shows its sentences itself; it is absent during training
//   ways     its variants, chosen by state.versus
//   single   it is one picture with the heatmap's labels
//   Marks    its legend
//   Reading  its own reading column

import { later } from '../ui/lazy.jsx';
import { Picture } from './heatmap/heatmap.jsx';
import { isOpen } from './train/settings.js';
import { canShow, isEmpty } from './viewRules.js';

const [Flow, FlowMarks] = ['Flow', 'FlowMarks'].map((name) => later(() => import('./flow/flow.jsx'), name));
const [Atlas, AtlasMarks, AtlasHead] = ['Atlas', 'AtlasMarks', 'AtlasHead'].map((name) =>
  later(() => import('./atlas/atlas.jsx'), name),
);
const Empty = later(() => import('./prompt/emptyPrompt.jsx'), 'Empty');
const Lines = later(() => import('./lines/lines.jsx'), 'Lines');
const ContributionPanel = later(() => import('./flow/contributionPanel.jsx'), 'ContributionPanel');
const PatchPicture = later(() => import('./patches/patches.jsx'), 'PatchPicture');
const [Trace, TraceMarks, TracePanel] = ['Trace', 'TraceMarks', 'TracePanel'].map((name) =>
  later(() => import('./trace/trace.jsx'), name),
);
const [Text, TextMarks, TextPanel] = ['Text', 'TextMarks', 'TextPanel'].map((name) =>
  later(() => import('./text/text.jsx'), name),
);
const [Compare, CompareMarks, CompareReading] = ['Compare', 'CompareMarks', 'CompareReading'].map((name) =>
  later(() => import('./compare/compare.jsx'), name),
);

/** @import { Run } from '../store/types.js' */
/** @import { State } from '../store/state.js' */
/** @typedef {import('preact').ComponentType<any>} Component */
/**
 * @typedef {{ name: 'heatmap' | 'matrix' | 'lines' | 'flow' | 'trace' | 'compare' | 'text' | 'atlas',
 *   Component: Component,
 *   inMenu?: boolean, grows?: boolean, titled?: boolean,
 *   spreads?: (state: State) => boolean, single?: (state: State) => boolean,
 *   Marks?: Component, Reading?: Component, ways?: ('beside' | 'difference')[] }} View
 */

/** @type {View[]} */
export const VIEWS = [
  { name: 'heatmap', Component: Picture, inMenu: true, single: () => true },
  { name: 'matrix', Component: Picture, inMenu: true, single: () => true },
  { name: 'lines', Component: Lines, inMenu: true, single: () => true },
  { name: 'text', Component: Text, inMenu: true, grows: true, titled: true, Marks: TextMarks, Reading: TextPanel },
  { name: 'flow', Component: Flow, grows: true, Marks: FlowMarks, Reading: ContributionPanel },
  { name: 'trace', Component: Trace, grows: true, titled: true, Marks: TraceMarks, Reading: TracePanel },
  {
    name: 'compare',
    Component: Compare,
    inMenu: true,
    // Two pictures in one column would be small.
    spreads: ({ versus, pinned, panel }) => versus === 'beside' && pinned !== null && panel === 'reading',
    single: ({ versus, pinned }) => versus === 'difference' || pinned === null,
    ways: ['beside', 'difference'],
    Marks: CompareMarks,
    Reading: CompareReading,
  },
  { name: 'atlas', Component: Atlas, grows: true, Marks: AtlasMarks, Reading: AtlasHead },
];
/** @param {string} name */
export const viewNamed = (name) => VIEWS.find((view) => view.name === name) ?? VIEWS[0];

/**
 * The views that can be chosen now.
 * @param {State} state @param {Run | null} run
 * @param {boolean} [further] the model in training was trained before, so that two runs can be compared
 */
export const viewsFor = (state, run, further = false) =>
  VIEWS.filter(({ name, ways, titled }) => canShow(name, run) && !(isOpen(state) && (titled || (ways && !further))));

/** The heatmap of an image: its patches instead of the matrix, which is a view of its own. */
const OF_PATCHES = { ...VIEWS[0], Component: PatchPicture, single: undefined };
/**
 * The view of a run: the heatmap if the named view cannot show it.
 * @param {string} name
 * @param {Run | null} run
 * @returns {View}
 */
export function viewOf(name, run) {
  if (isEmpty(run)) return { name: viewNamed(name).name, Component: Empty };
  const shown = canShow(name, run) ? name : 'heatmap';
  return run?.image && shown === 'heatmap' ? OF_PATCHES : viewNamed(shown);
}
