// Figures between the texts of the story: the tokens of the text, and the values that a head mixes.

import type { TargetedKeyboardEvent } from 'preact';
import { readingOf } from '../../model/derivation.ts';
import { signed, weightText } from '../../model/numbers.ts';
import { type Piece, shown, wordAt } from '../../model/tokens.ts';
import { useSession, useTexts } from '../../store/context.ts';
import { hasContributions, hasValues } from '../../store/runParts.ts';
import { Strip } from '../reading/feature.ts';
import { TEXTS } from './texts.ts';

/** Maximum number of tokens that are listed. */
const MAX_TOKENS = 60;

/** The tokens of the text, each with its id below. */
export function Tokens() {
  const session = useSession();
  const words = useTexts(TEXTS);
  const run = session.run.value;
  const cell = session.cell.value;
  if (!run?.T) return null;
  const walk = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const t = Math.min(Math.max((cell?.t ?? 0) + by, 0), run.T - 1);
    look(t);
    event.currentTarget.querySelectorAll('button')[t].focus();
  };
  const look = (t: number) => {
    session.setHover(null);
    session.look({ cell: { t, s: t } });
  };
  const chosen = cell ? wordAt(run.pieces, cell.t) : [];
  return (
    <div class="tokens" role="group" aria-label={words.tokens} onKeyDown={walk} lang="en">
      {run.pieces.slice(0, MAX_TOKENS).map((piece: Piece, t: number) => (
        <button
          key={t}
          type="button"
          tabIndex={t === (cell?.t ?? 0) ? 0 : -1}
          class={`${piece.space || t === 0 ? 'begins' : ''} ${chosen.includes(piece) ? 'chosen' : ''}`}
          aria-pressed={chosen.includes(piece)}
          onClick={() => look(t)}
        >
          <span class="letters">{piece.name}</span>
          <span class="number">{piece.id}</span>
        </button>
      ))}
    </div>
  );
}

/** The value of the key token, the mixture of values, and the head's contribution to the chosen prediction. */
export function Fetched() {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts(TEXTS);
  const run = session.run.value;
  const cell = session.cell.value;
  if (!cell || !hasValues(run) || cell.s > cell.t || cell.t >= run.T) return null;
  const r = readingOf(run, cell);
  const key = run.pieces[cell.s].name;
  return (
    <div class="strips">
      <Strip name={words.value} kind="value" values={r.v}>
        {weightText(r.weight)} {words.of} <i class="key">{key}</i>
      </Strip>
      <Strip name={words.mixture} kind="value" values={r.mixture}>
        {texts.others(r.weights.filter((weight, i) => weight > 0 && i !== cell.s).length)}
      </Strip>
      {hasContributions(run) && (
        <p class="adds">
          <span>
            {texts.adds} <i>{shown(run.chosen.text).trim()}</i>
          </span>
          <b data-name="head-adds">{signed(run.added.heads[run.layer * run.about.heads + run.head])}</b>
        </p>
      )}
    </div>
  );
}
