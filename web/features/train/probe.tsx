// The sequence on which the model in training is tested, and the errors of training.

import { useSession } from '../../store/context.ts';
import { useTrainTexts } from './texts.ts';

/** The sequence, with a bar under each token whose next token was predicted correctly. */
export function Probe() {
  const session = useSession();
  const texts = useTrainTexts();
  const run = session.run.value;
  const cell = session.cell.value;
  const { task } = session.state.value.training;
  const { pieces = [], guesses = [] } = run ?? {};
  const note = texts.probe[task] ?? '';
  // A short text has no held-out part, so the sequence is from the part that is learned.
  const isLearned = session.training.changes.value?.loss === null;
  return (
    <section class="sentence probe" aria-label={isLearned ? texts.partOfText : texts.unseen}>
      <p class="words letters" lang="en" data-count={pieces.length > 30 ? 'many' : 'few'}>
        {guesses.length > 0 &&
          pieces.map((piece, t) => {
            const { wanted, right } = guesses[t];
            const kind = wanted < 0 ? 'free' : right ? 'right' : 'wrong';
            return (
              <span
                key={t}
                class={`letter ${kind} ${t === cell?.t ? 'is-query' : t === cell?.s ? 'is-key' : ''}`}
                onPointerEnter={() => session.setHover({ t, s: -1 })}
                onPointerLeave={() => session.setHover(null)}
              >
                {piece.name}
              </span>
            );
          })}
      </p>
      <p class="note stays">
        {!isLearned && `${texts.never} `}
        <b class="value">{texts.underlined}</b>
        {texts.guessed}
        <br />
        {note}
      </p>
    </section>
  );
}

/** Reports an error in training or in storing the model, and says what the visitor can do. */
export function TrainNote() {
  const session = useSession();
  const texts = useTrainTexts();
  const { diverged, problem } = session.training;
  const lost = diverged.value;
  if (!lost && !problem.value) return null;
  return (
    <p class="failure train-note" role="alert">
      {lost ? texts.astray(lost) : problem.value === 'full' ? texts.full : texts.notKept(problem.value ?? '')}
    </p>
  );
}
