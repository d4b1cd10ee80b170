// The view Trace: two sentences, one above the other, and a grid of tokens × layers. A cell shows how much of the upper
// sentence's answer returns when this place of the lower run is patched with its value in the upper run.

import { useRef, useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { Picture } from '../heatmap/heatmap.jsx';
import { isOpen } from '../train/settings.js';
import { Begin } from './begin.jsx';
import { Choices } from './choices.jsx';
import { Grid } from './grid.jsx';
import { Nothing } from './nothing.jsx';
import { Sentences } from './sentences.jsx';
import { textsIn } from './traceState.js';
import { TraceTable } from './traceTable.jsx';
import { useTraceKeys } from './useTraceKeys.js';

/** @import { ViewProps } from '../heatmap/types.js' */

export { TraceMarks } from './marks.jsx';
export { TracePanel } from './panel.jsx';
export { default as styles } from './trace.css';

/** In a narrower view the grid shows one part of each layer at a time. */
const NARROW = 560;
/** In a view of this width there is an example next to the list of questions. */
const WIDE = 640;

/** @param {ViewProps} props */
export function Trace({ width, height, most, compact = false, free = false }) {
  const session = useSession();
  const state = session.state.value;
  const own = textsIn(session);
  const trace = session.trace.value;
  const area = useRef(/** @type {HTMLElement | null} */ (null));
  const [writing, setWriting] = useState(/** @type {'upper' | 'lower' | 'words' | null} */ (null));
  const [asTable, setAsTable] = useState(false);
  const narrow = width < NARROW;
  const grid = useTraceKeys({ narrow });
  if (isOpen(state)) return <Picture width={width} height={height} most={most} compact={compact} free={free} />;
  const shared = { trace, writing, setWriting };
  return (
    <section
      class={`trace ${narrow ? 'narrow-trace' : ''} ${free ? 'free' : ''}`}
      aria-label={own.title}
      ref={area}
      style={px({ height: free ? undefined : height })}
      onKeyDown={grid.onEscape}
    >
      {state.pinned ? (
        <>
          <Sentences {...shared} narrow={narrow} />
          <Choices {...shared} asTable={asTable} setAsTable={setAsTable} />
          {!trace ? (
            <p class="trace-note">{session.tracing.value ? own.running : ''}</p>
          ) : trace.problem ? (
            <Nothing trace={trace} problem={trace.problem} setWriting={setWriting} />
          ) : asTable ? (
            <TraceTable trace={trace} />
          ) : (
            <Grid trace={trace} grid={grid} narrow={narrow} />
          )}
        </>
      ) : (
        <Begin setWriting={setWriting} wide={width >= WIDE} />
      )}
    </section>
  );
}
