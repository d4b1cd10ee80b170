// Saves a trace as numbers, as a drawing, or as a program.

import { fileName } from '../../drawing/export/csv.ts';
import { widthOf } from '../../drawing/textWidth.ts';
import type { Trace } from '../../model/trace/places.ts';
import type { Session } from '../../store/session.ts';
import { download } from '../../ui/download.ts';
import { fileOf } from './traceFiles.ts';
import { textsIn } from './traceState.ts';

const TYPES = { csv: 'text/csv', svg: 'image/svg+xml', mjs: 'text/javascript' };

export function saveTrace(kind: keyof typeof TYPES, session: Session, trace: Trace) {
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
