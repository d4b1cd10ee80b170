// The files in which the menu Share saves what the shown view shows. Each view has its own list. The programs that
// write the files are loaded when one is chosen.

import { isOpen } from '../train/settings.js';
import { canShow } from '../viewRules.js';
import { isRunnable } from './modelProgram.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Item } from '../../ui/menu.jsx' */

/** Scales of a saved PNG besides the default of 2. */
const PNG_SCALES = [1, 3, 4];

/** The lists of views that do not show attention weights. @type {Record<string, (session: Session) => Item[]>} */
const OF_VIEW = { atlas: ofMap, trace: ofTrace, flow: ofFlow, text: ofText };
/** Views that show the heatmap during training. */
const NOT_IN_TRAINING = ['trace', 'text'];

/**
 * Returns the formats in which the shown view is saved; none before it has anything to save.
 * @param {Session} session
 */
export function exportsOf(session) {
  const state = session.state.value;
  const isHeatmap = !canShow(state.view, session.run.value) || (isOpen(state) && NOT_IN_TRAINING.includes(state.view));
  return ((!isHeatmap && OF_VIEW[state.view]) || ofWeights)(session);
}

/** The map of the atlas. @param {Session} session @returns {Item[]} */
function ofMap(session) {
  const map = session.atlas.map.value;
  return Object.entries(session.words.value.mapExports)
    .filter(([kind]) => kind !== 'headvis' || (map !== null && map.source !== 'folder'))
    .map(([kind, label]) => ({
      key: kind,
      label,
      act: () => import('../atlas/exportMap.js').then(({ saveMap }) => saveMap(/** @type {'csv'} */ (kind), session)),
    }));
}

/** The grid of a trace. @param {Session} session @returns {Item[]} */
function ofTrace(session) {
  const trace = session.trace.value;
  const about = session.about.value;
  if (!trace || trace.problem || !session.state.value.pinned) return [];
  const kinds = /** @type {const} */ (['svg', 'csv', 'mjs']).filter(
    (kind) => kind !== 'mjs' || (about && isRunnable(about)),
  );
  return kinds.map((kind) => ({
    key: kind,
    label: session.words.value.exports[kind],
    act: () => import('../trace/saveTrace.js').then(({ saveTrace }) => saveTrace(kind, session, trace)),
  }));
}

/** The circuit, or the contributions to the logit. @param {Session} session @returns {Item[]} */
function ofFlow(session) {
  if (!session.state.value.circuit)
    return numbers(session, () =>
      import('../flow/contributionFile.js').then(({ saveContributions }) => saveContributions(session)),
    );
  const circuit = session.circuit.shown.value;
  if (!circuit || circuit.begun.problem || circuit.work.stage !== 'done') return [];
  return numbers(session, () =>
    import('../circuit/saveCircuit.js').then(({ saveCircuit }) => saveCircuit(session, circuit)),
  );
}

/** The surprise at each token. @param {Session} session @returns {Item[]} */
function ofText(session) {
  const measured = session.surprise.measured.value;
  if (!measured) return [];
  return numbers(session, () => import('../text/textFile.js').then(({ saveText }) => saveText(session, measured)));
}

/** @param {Session} session @param {() => unknown} act @returns {Item[]} */
const numbers = (session, act) => [{ key: 'csv', label: session.words.value.exports.csv, act }];

/** The attention weights of the shown head or of all heads. @param {Session} session @returns {Item[]} */
function ofWeights(session) {
  const words = session.words.value;
  /** @type {(kind: string, scale?: number, figures?: boolean) => () => void} */
  const saving = (kind, scale, figures) => () =>
    import('./savePicture.js').then(({ exportAs }) => exportAs(kind, session, scale, figures));
  const withFigures = (/** @type {string} */ label) => ({
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
