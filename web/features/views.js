// The views of the large picture. Each is given the room that it has; see heatmap.jsx for what it is to do. A view
// may take the model's place as well (grows), have its reading above it and the room of both columns (spreads), be of
// several kinds (ways, chosen by state.versus), have one picture with the heatmap's sides (single), say what its
// colours mean (Marks), and stand beside a reading of its own.

import { later } from '../ui/lazy.jsx';
import { Picture } from './heatmap/heatmap.jsx';

const [Flow, FlowMarks] = ['Flow', 'FlowMarks'].map((name) => later(() => import('./flow/flow.jsx'), name));
const Empty = later(() => import('./prompt/emptyPrompt.jsx'), 'Empty');
const Lines = later(() => import('./lines/lines.jsx'), 'Lines');
const Adds = later(() => import('./flow/contributionPanel.jsx'), 'Adds');
const PatchPicture = later(() => import('./patches/patches.jsx'), 'PatchPicture');
const [Compare, CompareMarks, CompareReading] = ['Compare', 'CompareMarks', 'CompareReading'].map((name) =>
  later(() => import('./compare/compare.jsx'), name),
);

/** @import { State } from '../store/state.js' */
/** @typedef {import('preact').ComponentType<any>} Component */
/**
 * @type {{ name: 'heatmap' | 'matrix' | 'lines' | 'flow' | 'compare', Component: Component, grows?: boolean,
 *   spreads?: (state: State) => boolean, single?: (state: State) => boolean,
 *   Marks?: Component, Reading?: Component, ways?: ('beside' | 'difference')[] }[]}
 */
export const VIEWS = [
  { name: 'heatmap', Component: Picture, single: () => true },
  { name: 'matrix', Component: Picture, single: () => true },
  { name: 'lines', Component: Lines, single: () => true },
  { name: 'flow', Component: Flow, grows: true, Marks: FlowMarks, Reading: Adds },
  {
    name: 'compare',
    Component: Compare,
    // Two pictures in half of a column each would be small.
    spreads: ({ versus, pinned, panel }) => versus === 'beside' && pinned !== null && panel === 'reading',
    single: ({ versus, pinned }) => versus === 'difference' || pinned === null,
    ways: ['beside', 'difference'],
    Marks: CompareMarks,
    Reading: CompareReading,
  },
];
export const viewNamed = (name) => VIEWS.find((view) => view.name === name) ?? VIEWS[0];

/** What a picture's patches look at is drawn as that picture; their matrix is a view of its own. */
const OF_PATCHES = { ...VIEWS[0], Component: PatchPicture, single: undefined };
/** Lines of more cells than this cannot be told apart. */
const MOST_LINES = 90_000;

/** Whether a view can show a run. */
export function canShow(name, run) {
  if (name === 'matrix') return Boolean(run?.image);
  if (!run) return true;
  if (name === 'flow') return run.about.sums;
  if (name === 'compare') return run.about.kind === 'transformer';
  return name !== 'lines' || run.T * run.S <= MOST_LINES;
}

/** No token asks, or there is none to look at. */
export const isEmpty = (run) => Boolean(run) && !(run.T > 0 && run.S > 0);

/** The view of a run: an address may name one that cannot show it. */
export function viewOf(name, run) {
  if (isEmpty(run)) return { name: viewNamed(name).name, Component: Empty };
  const shown = canShow(name, run) ? name : 'heatmap';
  return run?.image && shown === 'heatmap' ? OF_PATCHES : viewNamed(shown);
}
/** The view in which one paints a mask. */
export const matrixOf = (run) => (run?.image ? 'matrix' : 'heatmap');
