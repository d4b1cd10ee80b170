// The edges as a list, the strongest first. A click cuts an edge or reconnects it.

import { useEffect, useRef } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { usePointing } from './circuitDrawing.jsx';
import { nodeName, onKey, pointsText, textsIn, useCircuit } from './circuitState.js';

/** @import { ShownLine } from './shownLines.js' */

/**
 * The keys that the list shares with the drawing. Enter and Space are missing, because they press the button of the
 * focused edge.
 */
const KEYS = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'x']);

/** @param {{ lines: ShownLine[] }} props */
export function LineList({ lines }) {
  const session = useSession();
  const shown = useCircuit();
  const list = useRef(/** @type {HTMLOListElement | null} */ (null));
  const pointed = session.circuit.pointed.value;
  useEffect(() => {
    const root = /** @type {ShadowRoot | undefined} */ (list.current?.getRootNode());
    if (!pointed || !list.current?.contains(root?.activeElement ?? null)) return;
    /** @type {HTMLElement | null} */ (list.current.querySelector(`[data-name="${pointed}"]`))?.focus();
  }, [pointed]);
  const press = (/** @type {KeyboardEvent} */ event) => {
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

/** @param {{ line: ShownLine }} props */
function Row({ line }) {
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
