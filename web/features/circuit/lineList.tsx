// The edges as a list, the strongest first. A click cuts an edge or reconnects it.

import { useEffect, useRef } from 'preact/hooks';
import type { ShownLine } from '../../model/circuit/shownLines.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { usePointing } from './circuitDrawing.tsx';
import { nodeName, onKey, pointsText, textsIn, useCircuit } from './circuitState.ts';

/**
 * The keys that the list shares with the drawing. Enter and Space are missing, because they press the button of the
 * focused edge.
 */
const KEYS = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'x']);

export function LineList({ lines }: { lines: ShownLine[] }) {
  const session = useSession();
  const shown = useCircuit();
  const list = useRef(null as HTMLOListElement | null);
  const pointed = session.circuit.pointed.value;
  useEffect(() => {
    const root = list.current?.getRootNode() as ShadowRoot | undefined;
    if (!pointed || !list.current?.contains(root?.activeElement ?? null)) return;
    (list.current.querySelector(`[data-name="${pointed}"]`) as HTMLElement | null)?.focus();
  }, [pointed]);
  const press = (event: KeyboardEvent) => {
    if (!shown || !KEYS.has(event.key)) return;
    if (!onKey(session, shown, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <ol class="circuit-list" ref={list} onKeyDown={press}>
      {lines.map((line) => (
        <Row key={line.name} line={line} />
      ))}
    </ol>
  );
}

function Row({ line }: { line: ShownLine }) {
  const session = useSession();
  const own = textsIn(session);
  const pointed = session.circuit.pointed.value;
  const { name, from, to, cost, was, isCut } = line;
  const colour = to.kind === 'logits' ? 'data' : to.kind;
  const changed = was !== null && !isCut && pointsText(was) !== pointsText(cost);
  const height = Math.min(Math.max(-cost / 7, 2), 11);
  const look = pointed === name ? 'pointed' : pointed ? 'dimmed' : '';
  const [guess] = session.circuit.shown.value?.begun.answers ?? [''];
  return (
    <li class={`${look} ${isCut ? 'is-cut' : ''}`}>
      <button
        type="button"
        data-name={name}
        aria-pressed={isCut}
        onFocus={() => session.circuit.point(name)}
        onBlur={() => session.circuit.point(null)}
        {...usePointing(name)}
      >
        <span class={`dash ${colour}`} style={px({ height })} />
        <span class="line-name">
          {nodeName(own, from)}{' '}
          <span class="to">→ {to.kind === 'logits' ? <i lang="en">{guess}</i> : nodeName(own, to)}</span>
        </span>
        {changed && <span class="was">{own.wasCost(pointsText(was))}</span>}
        <b>{isCut ? own.cut : pointsText(cost)}</b>
      </button>
    </li>
  );
}
