// The views of the large picture. Each component receives the size of its area, see ViewProps in heatmap/types.ts.
// The fields of a view besides its name and component:
//   grows    true if the view also fills the area of the model
//   spreads  true if the view fills the area of both columns, with the reading above it
//   inMenu   true if the view is in the first menu, which has the pictures of a head and the text
//   titled   true if the view shows the sentences itself; it is not available during training
//   ways     variants of the view, of which state.versus chooses one
//   single   true if the view is one picture with the labels of the heatmap
//   Marks    component of the legend
//   Reading  component of the reading column, if the view has its own

import type { ComponentType } from 'preact';
import { Atlas, AtlasHead, AtlasMarks } from '../features/atlas/feature.ts';
import { Compare, CompareMarks, CompareReading } from '../features/compare/feature.ts';
import { ContributionPanel, Flow, FlowMarks } from '../features/flow/feature.ts';
import { Picture } from '../features/heatmap/feature.ts';
import { Lines } from '../features/lines/feature.ts';
import { PatchPicture } from '../features/patches/feature.ts';
import { Empty } from '../features/prompt/feature.ts';
import { Text, TextMarks, TextPanel } from '../features/text/feature.ts';
import { Trace, TraceMarks, TracePanel } from '../features/trace/feature.ts';
import type { State } from '../model/state.ts';
import { isOpen } from '../model/training/settings.ts';
import type { Run } from '../model/types.ts';
import { canShow, isEmpty } from '../model/viewRules.ts';

export type Component = ComponentType<any>;
export type View = {
  name: 'heatmap' | 'matrix' | 'lines' | 'flow' | 'trace' | 'compare' | 'text' | 'atlas';
  Component: Component;
  inMenu?: boolean;
  grows?: boolean;
  titled?: boolean;
  spreads?: (state: State) => boolean;
  single?: (state: State) => boolean;
  Marks?: Component;
  Reading?: Component;
  ways?: ('beside' | 'difference')[];
};

export const VIEWS: View[] = [
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
    // Two pictures side by side need the area of both columns, because in one column they would be small.
    spreads: ({ versus, pinned, panel }) => versus === 'beside' && pinned !== null && panel === 'reading',
    single: ({ versus, pinned }) => versus === 'difference' || pinned === null,
    ways: ['beside', 'difference'],
    Marks: CompareMarks,
    Reading: CompareReading,
  },
  { name: 'atlas', Component: Atlas, grows: true, Marks: AtlasMarks, Reading: AtlasHead },
];
export const viewNamed = (name: string) => VIEWS.find((view) => view.name === name) ?? VIEWS[0];

/** Returns the views to choose from. `further`: the model was trained before, so that two runs can be compared. */
export const viewsFor = (state: State, run: Run | null, further = false) =>
  VIEWS.filter(({ name, ways, titled }) => canShow(name, run) && !(isOpen(state) && (titled || (ways && !further))));

/** The heatmap of an image shows its patches. The matrix is a separate view. */
const OF_PATCHES = { ...VIEWS[0], Component: PatchPicture, single: undefined };
/** Returns the view of a run, which is the heatmap if the view with that name cannot show the run. */
export function viewOf(name: string, run: Run | null): View {
  if (isEmpty(run)) return { name: viewNamed(name).name, Component: Empty };
  const shown = canShow(name, run) ? name : 'heatmap';
  return run?.image && shown === 'heatmap' ? OF_PATCHES : viewNamed(shown);
}
