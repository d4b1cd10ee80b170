// The prompt. Each token has a bar with its attention weight from the query token. A transparent text field covers the
// tokens. Field and tokens have the same font settings, so that they wrap at the same characters.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messageSpans, roleAt } from '../../model/chatRoles.ts';
import { shownWeights } from '../../model/meanOfHeads.ts';
import { isOff, placeOfLayer } from '../../model/modelEdits.ts';
import type { About } from '../../model/protocol/protocol.ts';
import type { Cell } from '../../model/state.ts';
import { excerptOf, type Piece, readsNumbers, restOf } from '../../model/tokens.ts';
import type { Run } from '../../model/types.ts';
import { WriteOn } from '../../parts/continueText.tsx';
import { later } from '../../parts/lazy.ts';
import { useColours } from '../../parts/useColours.ts';
import { useSession } from '../../store/context.ts';
import { useSize } from '../../ui/useSize.ts';
import { Guess } from './guess.tsx';
import { Row, Strip } from './tokenRow.tsx';

const [InputOptions, MaskButton] = ['InputOptions', 'MaskButton'].map((name) =>
  later(() => import('./inputOptions.tsx'), name),
);

export type Ramp = { css: (weight: number) => string };
/** An element that exists whenever an effect or a handler reads it. */
export type Ref = { current: any };

/** Returns the tokens of the last answer that match the text, because the answer may belong to the previous text. */
function matchingPieces(text: string, run: Run | null) {
  const pieces: Piece[] = [];
  for (const piece of run?.keys ?? []) {
    if (text.slice(piece.start, piece.end) !== piece.space + piece.text) break;
    pieces.push(piece);
  }
  return pieces;
}

/** Returns true if the input has more than a text. */
const hasOptions = (about: About | null) =>
  about &&
  (['pair', 'picture', 'sound'].includes(about.reads) ||
    about.chats ||
    about.parts?.length > 1 ||
    (about.batch as number) > 1);

export function Sentence({ small = false }) {
  const session = useSession();
  const reads = (session.run.value?.about ?? session.about.value)?.reads ?? 'text';
  if (reads === 'nothing' || reads === 'picture' || reads === 'sound')
    return <Row>{hasOptions(session.about.value) && <InputOptions />}</Row>;
  return <Field small={small} />;
}

function Field({ small }: { small: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const { text, head } = session.state.value;
  const run = session.run.value;
  const cell = session.cell.value;
  const line = useRef(null as any);
  const field = useRef(null as any);
  const { width } = useSize(line);
  const pieces = matchingPieces(text, run);
  const row =
    cell && run && run.T > 0
      ? shownWeights(run, session.state.value.mean).subarray(cell.t * run.S, (cell.t + 1) * run.S)
      : [];
  const ramp = useColours();
  const off = isOff(session.state.value, placeOfLayer(session), head);
  const [typing, setTyping] = useState(false);
  const overflows = useOverflow(field, text, width);
  // A text that overflows is shown as an excerpt around the query, except during typing.
  const excerpt = overflows && !typing && cell !== null && pieces.length > cell.t;
  const range = excerpt ? excerptOf(pieces.length, cell.t) : ([0, pieces.length] as const);
  useFieldValue(field, text);
  useQueryInView(line, width, excerpt);
  useCaretInView({ line, field, text, pieces, typing });
  const pointer = usePointer({ line, field, excerpt, pieces, setTyping });
  return (
    <section class="sentence" aria-label={words.sentence}>
      <div class={`words ${off ? 'off' : ''} ${text ? '' : 'empty'}`} lang="en">
        <TextField field={field} setTyping={setTyping} pointer={pointer} />
        <div
          class="line"
          ref={line}
          data-old={session.isOld.value}
          aria-busy={session.isOld.value && session.isWaiting.value}
        >
          <span aria-hidden="true">
            <Tokens pieces={pieces} range={range} row={row} ramp={ramp} />
          </span>
          {range[1] === pieces.length && <NextGuess pieces={pieces} />}
        </div>
        {excerpt && <Strip weights={row} ramp={ramp} />}
      </div>
      {hasOptions(session.about.value) && <InputOptions />}
      {run?.about.mask && <MaskButton />}
      {/* On small screens this button is next to the predictions. */}
      {!small && text !== '' && <WriteOn />}
      <Note off={off} />
    </section>
  );
}

/** Returns true if the whole text is higher than its box. */
function useOverflow(field: Ref, text: string, width: number) {
  const [overflows, setOverflows] = useState(false);
  useLayoutEffect(() => {
    const maxHeight = Number.parseFloat(getComputedStyle(field.current.parentElement).maxHeight);
    setOverflows(field.current.scrollHeight > maxHeight + 1);
  }, [text, width]);
  return overflows;
}

/** Sets the field only if it differs: setting must neither move the caret nor discard text typed since. */
function useFieldValue(field: Ref, text: string) {
  useLayoutEffect(() => {
    if (field.current.value !== text) field.current.value = text;
  }, [text]);
}

/** Scrolls a long text to the query, but never while the pointer is over it or the user is typing. */
function useQueryInView(line: Ref, width: number, excerpt: boolean) {
  const session = useSession();
  const run = session.run.value;
  const cell = session.cell.value;
  useEffect(() => {
    const span = line.current.querySelector('.is-query');
    const box = line.current.parentElement;
    if (!span || session.hover.peek() || box.contains(box.getRootNode().activeElement)) return;
    box.scrollTop = span.offsetTop - (box.clientHeight - span.offsetHeight) / 2;
  }, [cell?.t, run?.T, width, excerpt]);
}

/** Scrolls a long text to the caret after a change by the user, because the field is as high as the whole text. */
function useCaretInView({
  line,
  field,
  text,
  pieces,
  typing,
}: {
  line: Ref;
  field: Ref;
  text: string;
  pieces: Piece[];
  typing: boolean;
}) {
  useLayoutEffect(() => {
    if (!typing) return;
    const box = line.current.parentElement;
    const caret = caretBox(line.current, pieces, field.current.selectionEnd);
    const { top, bottom } = box.getBoundingClientRect();
    if (caret.bottom > bottom) box.scrollTop += caret.bottom - bottom;
    else if (caret.top < top) box.scrollTop += caret.top - top;
  }, [text]);
}

/** Returns the box of the character before the caret. A text that is not read yet is one piece without tokens. */
function caretBox(line: HTMLElement, pieces: Piece[], caret: number) {
  const t = pieces.findIndex(({ end }) => end >= caret);
  if (t >= 0) return (line.querySelector(`[data-t="${t}"]`) as HTMLElement).getBoundingClientRect();
  const rest = line.firstElementChild?.lastChild;
  const range = document.createRange();
  if (!(rest instanceof Text)) return line.getBoundingClientRect();
  const at = Math.min(caret - (pieces.at(-1)?.end ?? 0), rest.length);
  range.setStart(rest, Math.max(at - 1, 0));
  range.setEnd(rest, at);
  return range.getBoundingClientRect();
}

/** Returns handlers that find the token under the pointer; the field covers the tokens, so they get no events. */
function usePointer({
  line,
  field,
  excerpt,
  pieces,
  setTyping,
}: {
  line: Ref;
  field: Ref;
  excerpt: boolean;
  pieces: Piece[];
  setTyping: (typing: boolean) => void;
}) {
  const session = useSession();
  const pressed = useRef(-1);
  const tokenAt = ({ clientX: x, clientY: y }: PointerEvent) => {
    for (const span of line.current.querySelectorAll('[data-t]'))
      for (const box of span.getClientRects())
        if (x >= box.left && x <= box.right && y >= box.top - 4 && y <= box.bottom + 12) return Number(span.dataset.t);
    return -1;
  };
  return {
    point(event: PointerEvent) {
      // An excerpt is around the query, so it would move under the pointer if the pointer changed the query.
      if (event.pointerType === 'touch' || excerpt) return;
      const t = tokenAt(event);
      session.setHover(t < 0 ? null : { t, s: -1 });
    },
    press(event: PointerEvent) {
      const t = tokenAt(event);
      pressed.current = t;
      if (t >= 0) session.look({ cell: null });
      if (t >= 0 && event.pointerType === 'touch') session.setHover({ t, s: -1 });
    },
    /** If a token in an excerpt is pressed, the caret is set before that token in the whole text. */
    enter() {
      setTyping(true);
      if (!excerpt || pressed.current < 0) return;
      const { start, space } = pieces[pressed.current];
      requestAnimationFrame(() => field.current?.setSelectionRange(start + space.length, start + space.length));
    },
  };
}

function TextField({
  field,
  setTyping,
  pointer,
}: {
  field: Ref;
  setTyping: (typing: boolean) => void;
  pointer: ReturnType<typeof usePointer>;
}) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const keyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      session.write();
    } else if (event.key === 'Escape') field.current.blur();
  };
  return (
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
      onFocus={pointer.enter}
      onBlur={() => {
        setTyping(false);
        session.endGesture();
      }}
      onKeyDown={keyDown}
      onPointerMove={pointer.point}
      onPointerLeave={() => session.setHover(null)}
      onPointerDown={pointer.press}
    />
  );
}

/** The text as tokens with their bars. */
function Tokens({
  pieces,
  range: [from, to],
  row,
  ramp,
}: {
  pieces: Piece[];
  range: readonly [from: number, to: number];
  row: ArrayLike<number>;
  ramp: Ramp;
}) {
  const session = useSession();
  const { text } = session.state.value;
  const cell = session.cell.value;
  const messages = session.about.value?.chats ? messageSpans(text) : [];
  return (
    <>
      {from > 0 && '… '}
      {pieces
        .slice(from, to)
        .map((piece, i) => ({ piece, t: from + i }))
        .map(({ piece, t }) => (
          <span key={t}>
            {piece.space}
            <span
              data-t={t}
              class={`piece ${t === cell?.t ? 'is-query' : t === cell?.s ? 'is-key' : ''}`}
              data-role={roleAt(messages, piece.start + piece.space.length)}
              style={{ '--bar': barColour(ramp, row[t], t, cell) }}
            >
              {piece.text || (piece.space ? '' : '\u200b')}
            </span>
          </span>
        ))}
      {to < pieces.length ? ' …' : pieces.length ? restOf(text, pieces) : text}
    </>
  );
}

/** The first prediction, if the answer belongs to the current text. */
function NextGuess({ pieces }: { pieces: Piece[] }) {
  const session = useSession();
  const run = session.run.value;
  const isNext = run?.about.guess === 'next' && run.about.reads !== 'pair';
  const isCurrent = run?.pieces.length === pieces.length && !session.writing.value;
  if (!isNext || !isCurrent || !run.top) return null;
  return <Guess token={run.top[0].text} isFirst={pieces.length === 0} />;
}

function Note({ off }: { off: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  return (
    <p class={`note ${run?.cut ? 'stays' : ''}`} data-old={session.isOld.value}>
      {off ? (
        <>
          {words.noteOff[0]}
          <br />
          {words.noteOff[1]}
        </>
      ) : (
        cell &&
        run && (
          <>
            {words.note[0]}
            <br />
            <b class="query">{run.pieces[cell.t].name}</b> {words.note[1]}
          </>
        )
      )}
      {run?.cut && <span class="cut">{words.cut(run.T)}</span>}
    </p>
  );
}

/** Returns the colour of a token's bar. After the query only tokens with weight have one: a causal query sees none. */
function barColour(ramp: Ramp, weight: number | undefined, t: number, cell: Cell | null) {
  if (weight === undefined || !cell || (t > cell.t && !(weight > 0))) return 'transparent';
  return ramp.css(weight);
}
