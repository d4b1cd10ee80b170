// A menu that saves a trace as numbers, as a drawing, or as a program.

import { useSession } from '../../ui/context.js';
import { download } from '../../ui/download.js';
import { Menu } from '../../ui/menu.jsx';
import { isRunnable } from '../export/modelProgram.js';
import { textsIn } from './traceState.js';

/** @import { Trace } from './places.js' */

const TYPES = { csv: 'text/csv', svg: 'image/svg+xml', mjs: 'text/javascript' };

/** @param {{ trace: Trace }} props */
export function ExportMenu({ trace }) {
  const session = useSession();
  const own = textsIn(session);
  const about = session.about.value;
  const state = session.state.value;
  const save = (/** @type {keyof typeof TYPES} */ kind) => async () => {
    const { fileOf, fileName } = await import('./traceFiles.js');
    const content = fileOf(kind, trace, { state, about, own, theme: session.theme.value });
    download(fileName(['headlight', state.model, 'trace', trace.answers[0]], kind), TYPES[kind], content);
  };
  return (
    <Menu
      up
      className="strong"
      label={own.export}
      name={own.export}
      items={[
        { key: 'csv', label: own.csv, act: save('csv') },
        { key: 'svg', label: own.svg, act: save('svg') },
        ...(about && isRunnable(about)
          ? [{ key: 'mjs', label: own.program, about: own.programAbout, act: save('mjs') }]
          : []),
      ]}
    />
  );
}
