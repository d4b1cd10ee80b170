// The circuit: the edges between the heads and MLPs of a model that carry its prediction. The page draws an edge as a
// line, and the code calls it a line. The circuit is shown in place of the contributions of flow.

import { useLayoutEffect } from 'preact/hooks';
import type { ViewProps } from '../../drawing/types.ts';
import type { CircuitBegun } from '../../model/protocol/circuitProtocol.ts';
import { Ways } from '../../parts/ways.tsx';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { CircuitDrawing } from './circuitDrawing.tsx';
import { change, onKey, textsIn, useCircuit } from './circuitState.ts';

export { default as styles } from './circuit.css';
export { CircuitPanel } from './circuitPanel.tsx';
export { CutLine } from './cutLine.tsx';

export function Circuit({ width, height, compact = false }: ViewProps) {
  const session = useSession();
  const own = textsIn(session);
  const shown = useCircuit();
  useAnnouncedCut();
  const press = (event: KeyboardEvent) => {
    if (!shown || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (!onKey(session, shown, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const begun = shown?.circuit.begun;
  return (
    <section class="circuit" style={px({ width, height })} aria-label={own.title} onKeyDown={press}>
      {begun?.problem ? (
        <Problem begun={begun} />
      ) : shown ? (
        <CircuitDrawing {...shown} width={width} height={height} compact={compact} />
      ) : (
        <p class="circuit-note">{own.running}</p>
      )}
    </section>
  );
}

/** Announces the prediction to a screen reader when the result of the run with the cut edges has arrived. */
function useAnnouncedCut() {
  const session = useSession();
  const circuit = session.circuit.shown.value;
  const cuts = circuit?.cuts;
  const answer = circuit?.begun.answers[0];
  const said = cuts && answer !== undefined && `${answer} ${cuts.cut} ${cuts.now.both[0]}`;
  useLayoutEffect(() => {
    // When one circuit replaces another, the cuts may still belong to the previous circuit.
    if (!circuit || !cuts || answer === undefined) return;
    const { percent } = session.words.value;
    const [before, now] = [circuit.begun.whole.both[0], cuts.now.both[0]].map(percent);
    session.announce(textsIn(session).isCut(answer, before, now));
  }, [said]);
}

function Problem({ begun: { problem, cause = '', lengths = [] } }: { begun: CircuitBegun }) {
  const session = useSession();
  const own = textsIn(session);
  if (!problem) return null;
  return (
    <div class="circuit-note">
      <p role="status">{own.problems[problem](cause, lengths)}</p>
      {problem === 'length' && (
        <button type="button" class="word strong" onClick={() => change(session, { carries: 'mean' })}>
          {own.useMean}
        </button>
      )}
    </div>
  );
}

/** The legend of a circuit: the choice between the two views of flow, and the colours of edges. */
export function CircuitMarks() {
  const own = textsIn(useSession());
  return (
    <>
      <Ways />
      <span class="composition-label">{own.feeds}</span>
      {(['query', 'key', 'value', 'data'] as const).map((colour) => (
        <span key={colour} class="sample circuit-sample">
          <svg viewBox="0 0 22 10" aria-hidden="true" class="wide-sample">
            <path class={`line ${colour}`} d="M0 5H22" stroke-width="4" />
          </svg>
          {colour === 'data' ? own.guess : own.inputs[colour]}
        </span>
      ))}
    </>
  );
}
