// The files in which the menu Share saves what the shown view shows. Each view has its own list. The programs that
// write the files are loaded when one is chosen.

import { isRunnable } from '../../model/modelProgram.ts';
import { isOpen } from '../../model/training/settings.ts';
import { canShow } from '../../model/viewRules.ts';
import type { Session } from '../../store/session.ts';
import type { Item } from '../../ui/menu.tsx';
import { loadMapExport } from '../atlas/feature.ts';
import { loadCircuitFile } from '../circuit/feature.ts';
import { loadContributionFile } from '../flow/feature.ts';
import { loadTextFile } from '../text/feature.ts';
import { loadTraceFile } from '../trace/feature.ts';

/** Scales of a saved PNG besides the default of 2. */
const PNG_SCALES = [1, 3, 4];

/** The lists of views that do not show attention weights. */
const OF_VIEW: Record<string, (session: Session) => Item[]> = {
  atlas: ofMap,
  trace: ofTrace,
  flow: ofFlow,
  text: ofText,
};
/** Views that show the heatmap during training. */
const NOT_IN_TRAINING = ['trace', 'text'];

/** Returns the formats in which the shown view is saved; none before it has anything to save. */
export function exportsOf(session: Session) {
  const state = session.state.value;
  const isHeatmap = !canShow(state.view, session.run.value) || (isOpen(state) && NOT_IN_TRAINING.includes(state.view));
  return ((!isHeatmap && OF_VIEW[state.view]) || ofWeights)(session);
}

function ofMap(session: Session): Item[] {
  const map = session.atlas.map.value;
  return Object.entries(session.words.value.mapExports)
    .filter(([kind]) => kind !== 'headvis' || (map !== null && map.source !== 'folder'))
    .map(([kind, label]) => ({
      key: kind,
      label,
      act: () => loadMapExport().then(({ saveMap }) => saveMap(kind as 'csv', session)),
    }));
}

function ofTrace(session: Session): Item[] {
  const trace = session.trace.value;
  const about = session.about.value;
  if (!trace || trace.problem || !session.state.value.pinned) return [];
  const kinds = (['svg', 'csv', 'mjs'] as const).filter((kind) => kind !== 'mjs' || (about && isRunnable(about)));
  return kinds.map((kind) => ({
    key: kind,
    label: session.words.value.exports[kind],
    act: () => loadTraceFile().then(({ saveTrace }) => saveTrace(kind, session, trace)),
  }));
}

/** The circuit, or the contributions to the logit. */
function ofFlow(session: Session): Item[] {
  if (!session.state.value.circuit)
    return numbers(session, () => loadContributionFile().then(({ saveContributions }) => saveContributions(session)));
  const circuit = session.circuit.shown.value;
  if (!circuit || circuit.begun.problem || circuit.work.stage !== 'done') return [];
  return numbers(session, () => loadCircuitFile().then(({ saveCircuit }) => saveCircuit(session, circuit)));
}

function ofText(session: Session): Item[] {
  const measured = session.surprise.measured.value;
  if (!measured) return [];
  return numbers(session, () => loadTextFile().then(({ saveText }) => saveText(session, measured)));
}

const numbers = (session: Session, act: () => unknown): Item[] => [
  { key: 'csv', label: session.words.value.exports.csv, act },
];

function ofWeights(session: Session): Item[] {
  const words = session.words.value;
  const saving: (kind: string, scale?: number, figures?: boolean) => () => void = (kind, scale, figures) => () =>
    import('./savePicture.ts').then(({ exportAs }) => exportAs(kind, session, scale, figures));
  const withFigures = (label: string) => ({
    key: 'svg-figures',
    label: words.withFigures,
    name: `${label}, ${words.withFigures}`,
    act: saving('svg', undefined, true),
  });
  const scaled = PNG_SCALES.map((scale) => ({
    key: `png${scale}`,
    label: `${scale}×`,
    name: words.sharp(scale),
    act: saving('png', scale),
  }));
  return (
    Object.entries(words.exports)
      // Programs that compute weights from queries and keys cannot be written for a run that has only weights.
      .filter(([kind]) => session.run.value?.values || !/^(mjs|py)$/.test(kind))
      .map(([kind, label]) => ({
        key: kind,
        label,
        act: saving(kind),
        ...(kind === 'svg' && { more: [withFigures(label)] }),
        ...(kind === 'png' && { more: scaled }),
      }))
  );
}
