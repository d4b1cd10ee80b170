// Marks the rows that the model has written with a dashed line above them in the heatmap, and plays them back.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Picture } from '../../drawing/types.ts';
import type { Run } from '../../model/types.ts';
import { writtenFrom } from '../../model/written.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { shownRows, showRows, textsIn } from './writtenWords.ts';

export { default as styles } from './written.css';
export { WrittenPanel } from './writtenPanel.tsx';

/** Milliseconds for which each row is shown. */
const ROW = 700;

export function WrittenRows({ picture: { run, x, y, cell, matrixWidth, matrixHeight } }: { picture: Picture }) {
  const session = useSession();
  const from = writtenFrom(session.state.value, run);
  const rows = shownRows(session, run);
  const line = useRef(null as HTMLSpanElement | null);
  const read = session.cell.value;
  useLayoutEffect(() => {
    const area = line.current?.parentElement;
    [...(area?.querySelector('.labels')?.children ?? [])].forEach((label, i) => {
      label.toggleAttribute('data-written', i % run.T >= from);
    });
    area?.querySelector('.cross .is-query')?.toggleAttribute('data-written', read !== null && read.t >= from);
    area?.querySelector('.cross .is-key')?.toggleAttribute('data-written', read !== null && read.s >= from);
  });
  return (
    <>
      <span class="written-line" ref={line} style={px({ left: x, top: y + from * cell, width: matrixWidth })} />
      {rows < run.T && (
        <span class="not-shown" style={px({ top: y + rows * cell, height: matrixHeight - rows * cell })} />
      )}
    </>
  );
}

/**
 * The controls that play the rows back, pause, and advance by one token. At the last row the model continues to write.
 */
export function WrittenLine({ run }: { run: Run }) {
  const session = useSession();
  const own = textsIn(session);
  const rows = shownRows(session, run);
  const from = writtenFrom(session.state.value, run);
  const plays = session.playback.value?.plays === true && rows < run.T;
  const isWriting = session.writing.value;
  const show = (wanted: number, on = false) => showRows(session, run, wanted, on);
  useEffect(() => {
    if (!plays) return;
    const timer = setTimeout(() => show(rows + 1, true), ROW);
    return () => clearTimeout(timer);
  }, [plays, rows]);
  const isOn = plays || isWriting;
  const atEnd = rows === run.T;
  const press = () => {
    if (isWriting) session.stopWriting();
    else if (atEnd) session.write();
    else show(rows, !plays);
  };
  const text = rows <= from ? own.yours(rows, from) : own.written(rows - from, run.T - from);
  return (
    <div class="written-control">
      <button
        type="button"
        class="playing"
        aria-label={isOn ? own.pause : atEnd ? own.writeOn : own.play}
        onClick={press}
      >
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <path d={isOn ? 'M3 2h2v8h-2zM7 2h2v8h-2z' : 'M3 1.5l7 4.5l-7 4.5z'} />
        </svg>
      </button>
      <button
        type="button"
        class="playing step"
        aria-label={own.step}
        disabled={isWriting}
        onClick={() => (atEnd ? session.write(1) : show(rows + 1))}
      >
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <path d="M2 1.5l6 4.5l-6 4.5zM8.5 1.5h1.5v9h-1.5z" />
        </svg>
      </button>
      <label class="slider">
        <input
          type="range"
          min={1}
          max={run.T}
          value={rows}
          aria-label={own.rows}
          aria-valuetext={text}
          onInput={(event) => show(Number(event.currentTarget.value))}
        />
        <b>{text}</b>
      </label>
    </div>
  );
}
