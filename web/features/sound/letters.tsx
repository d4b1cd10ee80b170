// The predictions of a model that spells: the most probable letters of the chosen frame, and the text of all frames.

import { isCompared } from '../../model/modelEdits.ts';
import { shown } from '../../model/tokens.ts';
import { useSession, useTexts } from '../../store/context.ts';
import { Track } from '../../ui/track.tsx';
import turnedStyles from '../prediction/turned.css';
import { Turned } from '../prediction/turned.tsx';
import ownStyles from './sound.css';
import { sound as en } from './sound.en.ts';
import { sound as zh } from './sound.zh.ts';

export const styles = ownStyles + turnedStyles;

/** Minimum probability of a letter that is listed. */
const MIN_LISTED = 0.01;

export function FrameLetters() {
  const session = useSession();
  const own = useTexts({ en, zh });
  const words = session.words.value;
  const run = session.run.value;
  const letters = run?.letters;
  const turned = session.turned.value;
  if (!run || !letters) return null;
  const t = Math.min(session.cell.value?.t ?? 0, letters.top.length - 1);
  const top = letters.top[t] ?? [];
  const title = run.about.hears === 'frames' ? own.classes : own.letters;
  const most = Math.max(...top.map(({ now }) => now), 0.01);
  return (
    // Long contents scroll, by keyboard too, so the section can have the focus.
    <section class="prediction about frame-letters" role="group" aria-label={title} tabIndex={0}>
      {letters.text !== null && (
        <p class="spelled">
          <b>{own.text}</b> {letters.text ? <q>{letters.text}</q> : own.noText}
        </p>
      )}
      <h2>
        <b>{title}</b> <i class="query">{run.pieces[t]?.name}</i>
      </h2>
      <ul class="options">
        {top
          .filter(({ now }) => now >= MIN_LISTED)
          .map(({ id, text, now }) => (
            <li key={id} class="option">
              <span class="token">{nameOf({ id, text }, letters.blank, own)}</span>
              <Track now={now} most={most} />
              <b>{words.percent(now)}</b>
            </li>
          ))}
      </ul>
      {turned && isCompared(turned, session.switchHover.value) && <Turned />}
    </section>
  );
}

function nameOf({ id, text }: { id: number; text: string }, blank: number | null, own: typeof en) {
  if (id === blank) return <i>{own.blank}</i>;
  return text.trim() === '' ? <i>{own.space}</i> : shown(text);
}
