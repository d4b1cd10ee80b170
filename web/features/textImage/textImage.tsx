// An image and sentences in place of the predictions. Each sentence has a bar for its probability, and a tick for the
// other case. The heads that the page shows are those of the sentence that is being edited.

import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { shownPart } from '../../model/modelEdits.ts';
import { plain } from '../../model/numbers.ts';
import type { PictureData, Ranking } from '../../model/protocol/protocol.ts';
import { fieldsOf, MAX_SENTENCES, sentencesOf } from '../../model/sentences.ts';
import { AblationButton } from '../../parts/ablation.tsx';
import { useSession, useTexts } from '../../store/context.ts';
import { Track } from '../../ui/track.tsx';
import { textImage as en } from './textImage.en.ts';
import { textImage as zh } from './textImage.zh.ts';

export { default as styles } from './textImage.css';

export type KeyEvent = TargetedKeyboardEvent<HTMLInputElement>;

const TEXTS = { en, zh };
/** The number of lines that an arrow key moves. */
const STEPS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 };

/** `short`: true to show shorter texts, on a phone. */
export function TextImage({ short = false }: { short?: boolean }) {
  const session = useSession();
  const own = useTexts(TEXTS);
  const words = session.words.value;
  const { about } = session.run.value ?? {};
  const ranking = session.ranking.value;
  const isCompared = Boolean(ranking?.other) && (ranking?.kind !== 'without' || session.switchHover.value);
  const { sentences, chosen } = sentencesOf(session.state.value);
  const cosine = rankedAs(ranking, sentences, chosen)?.cosine;
  const [layer, head] = [session.state.value.layer, session.state.value.head];
  return (
    <section class={`prediction about matching ${isCompared ? 'compared' : ''}`} role="group" aria-label={own.title}>
      <div class="matching-head">
        <Thumbnail image={ranking?.image ?? null} />
        <h2>
          <b>{own.title}</b>
        </h2>
      </div>
      <Sentences sentences={sentences} chosen={chosen} ranking={ranking} isCompared={isCompared} />
      {isCompared && ranking && (
        <p class="other">
          <span class="mark" />
          {ranking.kind === 'without'
            ? words.other_without(words.open.headOf(shownPart(about, session.state.value), layer, head))
            : words[`other_${ranking.kind}`]}
        </p>
      )}
      {!short && (
        <p title={own[about?.matches ?? 'all']}>
          {cosine === undefined ? own[about?.matches ?? 'all'] : own.cosine(plain(cosine, 3))}
        </p>
      )}
      <AblationButton />
    </section>
  );
}

/**
 * Returns the answer about a sentence. Until it arrives, returns the last answer about the sentence in the same line.
 */
function rankedAs(ranking: Ranking | null, sentences: readonly string[], i: number) {
  if (!ranking) return undefined;
  const exact = ranking.sentences.findIndex(({ text }) => text === sentences[i]);
  const at = exact >= 0 ? exact : ranking.sentences.length === sentences.length ? i : -1;
  return at < 0 ? undefined : { ...ranking.sentences[at], before: ranking.other?.[at] ?? null };
}

function Sentences({
  sentences,
  chosen,
  ranking,
  isCompared,
}: {
  sentences: string[];
  chosen: number;
  ranking: Ranking | null;
  isCompared: boolean;
}) {
  const session = useSession();
  const own = useTexts(TEXTS);
  const list = useRef(null as HTMLOListElement | null);
  /** The line to focus once rendered, before the next frame, because the pressed button may have been removed. */
  const wanted = useRef(-1);
  useLayoutEffect(() => {
    if (wanted.current < 0) return;
    const line = list.current?.querySelectorAll('input')[wanted.current];
    wanted.current = -1;
    line?.focus();
  }, [sentences.length, chosen]);
  const set = (next: string[], line: number) => {
    const fields = fieldsOf(next, line);
    wanted.current = fields.entry;
    session.update({ ...fields, cell: null });
  };
  const choose = (line: number) => line !== chosen && set(sentences, line);
  const ranked = sentences.map((_, i) => rankedAs(ranking, sentences, i));
  const likely = ranked.flatMap((one) => [one?.probability ?? 0, one?.before ?? 0]);
  // With SigLIP all probabilities may be small, so the longest bar is the largest of them.
  const most = session.run.value?.about.matches === 'each' ? Math.max(...likely, 0.01) : 1;
  const remove = (line: number) => {
    const next = line < chosen ? chosen - 1 : Math.min(chosen, sentences.length - 2);
    set(sentences.toSpliced(line, 1), next);
  };
  return (
    <>
      <ol class="matching-list" ref={list}>
        {sentences.map((text, i) => (
          <Line
            key={i}
            name={own.sentence(i + 1, sentences.length)}
            text={text}
            isChosen={i === chosen}
            ranked={ranked[i]}
            most={most}
            isCompared={isCompared}
            choose={() => choose(i)}
            step={(by) => list.current?.querySelectorAll('input')[i + by]?.focus()}
            remove={sentences.length > 1 ? () => remove(i) : null}
          />
        ))}
      </ol>
      {sentences.length < MAX_SENTENCES && sentences[chosen].trim() !== '' && (
        <button type="button" class="word" onClick={() => set([...sentences, ''], sentences.length)}>
          {own.add}
        </button>
      )}
    </>
  );
}

function Line({
  name,
  text,
  isChosen,
  ranked,
  most,
  isCompared,
  choose,
  step,
  remove,
}: {
  name: string;
  text: string;
  isChosen: boolean;
  ranked: { probability?: number; cosine?: number; before: number | null } | undefined;
  /** probability that the longest bar shows */
  most: number;
  isCompared: boolean;
  choose: () => void;
  step: (by: number) => void;
  remove: (() => void) | null;
}) {
  const session = useSession();
  const own = useTexts(TEXTS);
  const { percent } = session.words.value;
  const now = text.trim() === '' ? undefined : ranked?.probability;
  const before = ranked?.before ?? null;
  const keyDown = (event: KeyEvent) => {
    event.stopPropagation();
    if (!STEPS[event.key]) return;
    event.preventDefault();
    step(STEPS[event.key]);
  };
  return (
    <li
      class="matching-line"
      data-chosen={isChosen}
      title={ranked?.cosine === undefined ? undefined : own.cosine(plain(ranked.cosine, 3))}
    >
      <input
        aria-label={name}
        aria-current={isChosen}
        placeholder={own.empty}
        value={text}
        spellcheck={false}
        autocomplete="off"
        onFocus={choose}
        onInput={(event) => session.opening.setText(event.currentTarget.value, 'text')}
        onBlur={session.endGesture}
        onKeyDown={keyDown}
      />
      <b data-name="match">
        {now !== undefined && percent(now)}
        {isCompared && now !== undefined && before !== null && (
          <i>
            <span class="mark" />
            {percent(before)}
          </i>
        )}
      </b>
      {remove ? (
        <button type="button" class="word sign" aria-label={own.remove(text)} onClick={remove}>
          ×
        </button>
      ) : (
        <span />
      )}
      {now === undefined ? <span class="track" /> : <Track now={now} before={before} most={most} />}
    </li>
  );
}

/** The image, which is also the button that opens another one. */
function Thumbnail({ image }: { image: PictureData | null }) {
  const session = useSession();
  const own = useTexts(TEXTS);
  const canvas = useRef(null as HTMLCanvasElement | null);
  useEffect(() => {
    if (!canvas.current || !image) return;
    const { width, height, data } = image;
    Object.assign(canvas.current, { width, height });
    canvas.current.getContext('2d')?.putImageData(new ImageData(data, width, height), 0, 0);
  }, [image]);
  return (
    <label class="matching-picture" title={own.picture}>
      <canvas ref={canvas} aria-hidden="true" />
      <input
        type="file"
        accept="image/*"
        aria-label={own.picture}
        data-name="picture"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file) session.opening.open([{ path: file.name, file }]);
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
}
