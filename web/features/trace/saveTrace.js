// Saves a trace as numbers, as a drawing, or as a program.

import { download } from '../../ui/download.js';
import { fileName } from '../export/csv.js';
import { widthOf } from '../heatmap/textWidth.js';
import { fileOf } from './traceFiles.js';
import { textsIn } from './traceState.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Trace } from './places.js' */

const TYPES = { csv: 'text/csv', svg: 'image/svg+xml', mjs: 'text/javascript' };

/** @param {keyof typeof TYPES} kind @param {Session} session @param {Trace} trace */
export function saveTrace(kind, session, trace) {
  const state = session.state.peek();
  const shown = {
    state,
    about: session.about.peek(),
    own: textsIn(session),
    theme: session.theme.peek(),
    measure: widthOf,
  };
  download(
    fileName(['headlight', state.model, 'trace', trace.answers[0]], kind),
    TYPES[kind],
    fileOf(kind, trace, shown),
  );
}
