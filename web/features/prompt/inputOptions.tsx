// The options of the input of an opened model, next to the prompt: second text, part, entry of a batch, image, mask.

import { useSession } from '../../store/context.ts';
import { Chat } from '../chat/feature.ts';
import { Sound } from '../sound/feature.ts';

/** An encoder–decoder's second text and choice of attention, a batch's entry, and the button for another image. */
export function InputOptions() {
  const session = useSession();
  const words = session.words.value;
  const about = session.about.value;
  const state = session.state.value;
  if (!about) return null;
  const { batch = 1 } = about;
  return (
    <>
      {(about.reads === 'pair' || about.prompt !== undefined) && (
        <input
          class="second"
          aria-label={words.open.second}
          placeholder={words.open.second}
          value={state.second}
          onInput={(event) => session.update({ second: event.currentTarget.value, cell: null }, 'second')}
          onKeyDown={(event) => event.stopPropagation()}
        />
      )}
      {about.parts.length > 1 && (
        <span class="choice parts" role="group" aria-label={words.open.partOf}>
          {about.parts.map((part) => (
            <button
              key={part}
              type="button"
              class="word"
              aria-pressed={state.part === part}
              onClick={() => session.update({ part, cell: null })}
            >
              {words.open.parts[part]}
            </button>
          ))}
        </span>
      )}
      {about.chats && <Chat />}
      {about.reads === 'sound' && <Sound />}
      {batch > 1 && <Entry count={batch} />}
      {about.reads === 'picture' && !about.matches && (
        <label class="word strong file">
          {words.open.another}
          <input
            type="file"
            accept="image/*"
            data-name="picture"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              if (file) session.opening.open([{ path: file.name, file }]);
              event.currentTarget.value = '';
            }}
          />
        </label>
      )}
    </>
  );
}

function Entry({ count }: { count: number }) {
  const session = useSession();
  const words = session.words.value.open;
  const entry = Math.min(session.state.value.entry, count - 1);
  const choose = (next: number) => {
    if (!(next >= 0 && next < count) || next === entry) return;
    session.update({ entry: next, cell: null }, 'entry');
    session.announce(words.entryIs(next, count));
  };
  const step = (by: number, name: string, sign: string) => (
    <button
      type="button"
      class="word sign"
      aria-label={name}
      disabled={entry + by < 0 || entry + by >= count}
      onClick={() => choose(entry + by)}
    >
      {sign}
    </button>
  );
  return (
    <span class="choice entry" role="group" aria-label={words.entryIs(entry, count)}>
      {step(-1, words.entryBefore, '‹')}
      <label>
        {words.entry}{' '}
        <input
          type="number"
          min={0}
          max={count - 1}
          value={entry}
          style={{ width: `${String(count).length + 1}ch` }}
          onChange={(event) => {
            choose(Math.min(Math.max(Math.round(event.currentTarget.valueAsNumber) || 0, 0), count - 1));
            event.currentTarget.value = String(Math.min(session.state.peek().entry, count - 1));
          }}
          onBlur={session.endGesture}
          onKeyDown={(event) => event.stopPropagation()}
        />{' '}
        {words.ofBatch(count)}
      </label>
      {step(1, words.entryAfter, '›')}
    </span>
  );
}

/** The button that masks the query token, or the token under the pointer. */
export function MaskButton() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  const mask = run?.about.mask;
  const piece = cell && run?.pieces[cell.t];
  if (!mask || !piece || piece.end <= piece.start || piece.name === mask) return null;
  const maskToken = () => {
    const { text } = session.state.value;
    session.update({ text: `${text.slice(0, piece.start)}${piece.space}${mask}${text.slice(piece.end)}` });
  };
  return (
    <button type="button" class="word write cover" onClick={maskToken}>
      {words.open.cover(piece.name)}
    </button>
  );
}
