// The view Trace: two sentences, one above the other, and a grid of tokens × layers. A cell shows how much of the upper
// sentence's answer returns when this place of the lower run is patched with its value in the upper run.

import { useRef, useState } from 'preact/hooks';
import type { ViewProps } from '../../drawing/types.ts';
import { isOpen } from '../../model/training/settings.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { Picture } from '../heatmap/feature.ts';
import { Begin } from './begin.tsx';
import { Choices } from './choices.tsx';
import { Grid } from './grid.tsx';
import { Nothing } from './nothing.tsx';
import { Sentences } from './sentences.tsx';
import { textsIn } from './traceState.ts';
import { TraceTable } from './traceTable.tsx';
import { useTraceKeys } from './useTraceKeys.ts';

export { TraceMarks } from './marks.tsx';
export { TracePanel } from './panel.tsx';
export { default as styles } from './trace.css';

/** In a narrower view the grid shows one part of each layer at a time. */
const NARROW = 560;
/** In a view of this width there is an example next to the list of questions. */
const WIDE = 640;

export function Trace({ width, height, most, compact = false, free = false }: ViewProps) {
  const session = useSession();
  const state = session.state.value;
  const own = textsIn(session);
  const trace = session.trace.value;
  const area = useRef(null as HTMLElement | null);
  const [writing, setWriting] = useState(null as 'upper' | 'lower' | 'words' | null);
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
