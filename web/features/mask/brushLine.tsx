// The toolbar of the brush, in place of the what-if line: the tools, the scope of the mask, and the buttons Clear and
// Done.

import { useEffect, useLayoutEffect } from 'preact/hooks';
import { countOf, isLinked } from '../../model/hiddenCells.ts';
import { placeIn, placeOfLayer, withPlace } from '../../model/modelEdits.ts';
import { matrixOf } from '../../model/viewRules.ts';
import { useSession } from '../../store/context.ts';
import type { Kind } from '../../ui/layout.ts';
import { Scopes } from '../whatif/scopes.tsx';
import { brushTexts, hiddenHere } from './brush.tsx';

const TOOLS = ['hide', 'show'] as const;

/** kind: kind of the screen, see ui/layout.ts */
export function BrushLine({ kind }: { kind: Kind }) {
  const session = useSession();
  const own = brushTexts(session);
  const state = session.state.value;
  const { painted, scope, head } = state;
  const done = () => session.stopBrush();
  useEscape(done);
  useEffect(() => {
    if (state.view !== matrixOf(session.run.value)) done();
  }, [state.view]);
  const place = placeIn(scope, placeOfLayer(session), head);
  const clear = () => session.update({ painted: withPlace(painted, place, '', '') });
  return (
    <section class="whatif brushing" aria-label={own.lead}>
      {kind !== 'phone' && <span class="lead">{own.lead}</span>}
      <Tools />
      <span class="group">
        <span class="label">{own.in}</span>
        <Scopes name={own.lead} />
      </span>
      {kind !== 'phone' && <span class="brush-note">{isLinked(painted) ? `${own.how} ` : `${own.unlinked} `}</span>}
      {kind !== 'phone' && kind !== 'tablet' && (
        <span class="brush-note">{own.count(countOf(hiddenHere(session, state)))}</span>
      )}
      <span class="actions">
        <button type="button" class="word" disabled={!Object.values(painted).some(Boolean)} onClick={clear}>
          {own.clear}
        </button>
        <button type="button" class="word strong" onClick={done}>
          {own.done}
        </button>
      </span>
    </section>
  );
}

function Tools() {
  const session = useSession();
  const own = brushTexts(session);
  return (
    <span class="choice" role="group" aria-label={own.tools}>
      {TOOLS.map((tool) => (
        <button
          key={tool}
          type="button"
          class="word"
          title={own[`${tool}About`]}
          aria-pressed={session.brush.value === tool}
          onClick={() => session.startBrush(tool)}
        >
          {own[tool]}
        </button>
      ))}
    </span>
  );
}

/** Calls `done` when Escape is pressed while no menu is open, and when the component is removed. */
function useEscape(done: () => void) {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.composedPath()[0] as Element;
      if (event.key !== 'Escape' || target.closest?.('.menu')) return;
      event.stopPropagation();
      done();
    };
    document.addEventListener('keydown', onKey, true);
    return () => {
      document.removeEventListener('keydown', onKey, true);
      done();
    };
  }, []);
}
