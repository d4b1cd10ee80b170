// The text is the title: one writes into it, and the bar under a word is the weight that the asking token gives it. The
// field that is written into lies, transparent, over the words; both wrap alike because their letters stand alike.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useSession, useSize } from '../../ui/context.js';
import { shownWeights } from '../heatmap/meanOfHeads.js';
import { useColours } from '../heatmap/useColours.js';
import { isOff } from '../whatif/edits.js';
import { WriteOn } from './continueText.jsx';
import { Beside, Cover } from './secondInput.jsx';
import { Row, Strip } from './tokenRow.jsx';
import { excerptOf, readsNumbers, restOf, shown } from './tokens.js';

/** How the words of the text fit the tokens of the last answer, which may be of the text before. */
function fitting(text, run) {
  const pieces = [];
  for (const piece of run?.keys ?? []) {
    if (text.slice(piece.start, piece.end) !== piece.space + piece.text) break;
    pieces.push(piece);
  }
  return pieces;
}

export function Sentence({ small = false }) {
  const session = useSession();
  const reads = (session.run.value?.about ?? session.about.value)?.reads ?? 'text';
  if (reads === 'nothing' || reads === 'picture')
    return (
      <Row>
        <Beside />
      </Row>
    );
  return <Field small={small} />;
}

function Field({ small }) {
  const session = useSession();
  const words = session.words.value;
  const { text, layer, head } = session.state.value;
  const run = session.run.value;
  const cell = session.cell.value;
  const writing = session.writing.value;
  const line = useRef(/** @type {any} */ (null));
  const pressed = useRef(-1);
  const field = useRef(/** @type {any} */ (null));
  const { width } = useSize(line);
  const pieces = fitting(text, run);
  const row =
    cell && run.T > 0 ? shownWeights(run, session.state.value.mean).subarray(cell.t * run.S, (cell.t + 1) * run.S) : [];
  const ramp = useColours();
  const off = isOff(session.state.value, layer, head);
  const next = run?.about.guess === 'next' && run.about.reads !== 'pair';
  const guess = next && run?.top && run.pieces.length === pieces.length && !writing ? shown(run.top[0].text) : '';

  // A text that does not fit is shown near the query, but while one writes.
  const [near, setNear] = useState(false);
  const [writes, setWrites] = useState(false);
  useLayoutEffect(() => {
    const most = Number.parseFloat(getComputedStyle(field.current.parentElement).maxHeight);
    setNear(field.current.scrollHeight > most + 1);
  }, [text, width]);
  const excerpt = near && !writes && cell !== null && pieces.length > cell.t;
  const [from, to] = excerpt ? excerptOf(pieces.length, cell.t) : [0, pieces.length];

  // A program that changes the text must not move the caret of who writes, nor take away what is typed since.
  useLayoutEffect(() => {
    if (field.current.value !== text) field.current.value = text;
  }, [text]);

  // The asking word of a long text is in sight, but never moves under the pointer or the caret of who writes.
  useEffect(() => {
    const span = line.current.querySelector('.asks');
    const box = line.current.parentElement;
    if (!span || session.hover.peek() || box.contains(box.getRootNode().activeElement)) return;
    box.scrollTop = span.offsetTop - (box.clientHeight - span.offsetHeight) / 2;
  }, [cell?.t, run?.T, width, excerpt]);

  const tokenAt = ({ clientX: x, clientY: y }) => {
    for (const span of line.current.querySelectorAll('[data-t]'))
      for (const box of span.getClientRects())
        if (x >= box.left && x <= box.right && y >= box.top - 4 && y <= box.bottom + 12) return Number(span.dataset.t);
    return -1;
  };
  const point = (event) => {
    // What is near the query would move under the pointer.
    if (event.pointerType === 'touch' || excerpt) return;
    const t = tokenAt(event);
    session.setHover(t < 0 ? null : { t, s: -1 });
  };
  /** What is pressed in an excerpt has the caret in the whole text. */
  const enter = () => {
    setWrites(true);
    if (!excerpt || pressed.current < 0) return;
    const { start, space } = pieces[pressed.current];
    requestAnimationFrame(() => field.current?.setSelectionRange(start + space.length, start + space.length));
  };
  const press = (event) => {
    const t = tokenAt(event);
    pressed.current = t;
    if (t >= 0) session.look({ cell: null });
    if (t >= 0 && event.pointerType === 'touch') session.setHover({ t, s: -1 });
  };
  const keyDown = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      session.write();
    } else if (event.key === 'Escape') field.current.blur();
  };
  return (
    <section class="sentence" aria-label={words.sentence}>
      <div class={`words ${off ? 'off' : ''} ${text ? '' : 'empty'}`} lang="en">
        <textarea
          ref={field}
          aria-label={words.sentence}
          placeholder={run && readsNumbers(run.about) ? words.emptyNumbers : words.empty}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          rows={1}
          onInput={(event) => {
            const { value } = event.currentTarget;
            session.opening.setText(value, 'text');
            if (/\s$/.test(value)) session.endGesture();
          }}
          onFocus={enter}
          onBlur={() => {
            setWrites(false);
            session.endGesture();
          }}
          onKeyDown={keyDown}
          onPointerMove={point}
          onPointerLeave={() => session.setHover(null)}
          onPointerDown={press}
        />
        <div class="line" ref={line}>
          <span aria-hidden="true">
            {from > 0 && '… '}
            {pieces
              .slice(from, to)
              .map((piece, i) => [piece, from + i])
              .map(([piece, t]) => (
                <span key={t}>
                  {piece.space}
                  <span
                    data-t={t}
                    class={`piece ${t === cell?.t ? 'asks' : t === cell?.s ? 'answers' : ''}`}
                    style={{ '--bar': bar(ramp, row[t], t, cell) }}
                  >
                    {piece.text || (piece.space ? '' : '\u200b')}
                  </span>
                </span>
              ))}
            {to < pieces.length ? ' …' : pieces.length ? restOf(text, pieces) : text}
            {guess && to === pieces.length && (
              <span class="guess">
                {pieces.length > 0 && !/^\s/.test(guess) && !/\s$/.test(text) ? '\u2009' : ''}
                {guess}
              </span>
            )}
          </span>
        </div>
        {excerpt && <Strip weights={row} ramp={ramp} />}
      </div>
      <Beside />
      <Cover />
      {/* On small screens it stands beside the guesses. */}
      {!small && text !== '' && <WriteOn />}
      <p class="note">
        {off ? (
          <>
            {words.noteOff[0]}
            <br />
            {words.noteOff[1]}
          </>
        ) : (
          cell && (
            <>
              {words.note[0]}
              <br />
              <b class="query">{run.pieces[cell.t].name}</b> {words.note[1]}
            </>
          )
        )}
        {run?.cut && <span class="cut">{words.cut(run.T)}</span>}
      </p>
    </section>
  );
}

/** Tokens that come later have no bar: they cannot be looked at. */
function bar(ramp, weight, t, cell) {
  if (weight === undefined || !cell || (t > cell.t && !(weight > 0))) return 'transparent';
  return ramp.css(weight);
}
