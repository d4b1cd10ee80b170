// The sound that is the model's input: its length, buttons that replace it with a file or a recording, and the
// transcription.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useSession, useTexts } from '../../store/context.ts';
import { record } from '../../ui/microphone.ts';
import { sound as en } from './sound.en.ts';
import { sound as zh } from './sound.zh.ts';

export { default as styles } from './sound.css';

const TEXTS = { en, zh };

/** The length of the sound, and of the silence after it that the model also reads. */
export function SoundTitle() {
  const session = useSession();
  const own = useTexts(TEXTS);
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  if (!run?.sound) return null;
  const { seconds, cut, unseen } = run.sound;
  const share = cell && run.values?.unseen?.[cell.t];
  return (
    <div class="sound-title">
      <h2 class="title-line">{own.title(seconds.toFixed(1), cut)}</h2>
      {unseen > 0 && typeof share === 'number' && <p>{own.unseen(unseen.toFixed(1), words.percent(share))}</p>}
    </div>
  );
}

/** Buttons that choose a sound, and that let a speech model transcribe it. */
export function Sound() {
  const session = useSession();
  const own = useTexts(TEXTS);
  return (
    <div class="sound-controls">
      {session.about.value?.prompt !== undefined && <Transcribe />}
      <label class="word strong file">
        {own.file}
        <input
          type="file"
          accept="audio/*"
          data-name="sound"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file) session.opening.hearFile(file);
            event.currentTarget.value = '';
          }}
        />
      </label>
      <Record />
    </div>
  );
}

function Transcribe() {
  const session = useSession();
  const own = useTexts(TEXTS);
  const writing = session.writing.value;
  return (
    <button
      type="button"
      class="word strong"
      data-name="transcribe"
      disabled={!session.run.value}
      onClick={() => (writing ? session.stopWriting() : session.write())}
    >
      {writing ? own.stopWriting : own.transcribe}
    </button>
  );
}

export type Recording = { name: 'idle' | 'asking' | 'refused' | 'missing' } | { name: 'recording'; seconds: number };

/** Returns the state of the recording, and actions that start, stop or cancel it. */
function useRecording() {
  const session = useSession();
  const [state, setState] = useState({ name: 'idle' } as Recording);
  const running = useRef(null as AbortController | null);
  const stop = useRef(() => {});
  const cancel = () => {
    running.current?.abort();
    setState({ name: 'idle' });
  };
  useEffect(() => () => running.current?.abort(), []);
  const begin = async () => {
    const { signal } = (running.current = new AbortController());
    setState({ name: 'asking' });
    try {
      stop.current = await record({
        signal,
        seconds: (seconds) => setState({ name: 'recording', seconds }),
        end(file) {
          setState({ name: 'idle' });
          session.opening.hearFile(file);
        },
      });
    } catch (error) {
      const refused = error instanceof Error && error.name === 'NotAllowedError';
      if (!signal.aborted) setState({ name: refused ? 'refused' : 'missing' });
    }
  };
  return { state, begin, cancel, stop: () => stop.current() };
}

function Record() {
  const own = useTexts(TEXTS);
  const { state, begin, cancel, stop } = useRecording();
  const button = {
    idle: { text: own.record, act: begin },
    refused: { text: own.record, act: begin },
    missing: { text: own.record, act: begin },
    asking: { text: own.cancel, act: cancel },
    recording: { text: own.stop(state.name === 'recording' ? state.seconds : 0), act: stop },
  }[state.name];
  return (
    <>
      <button
        type="button"
        class={`word strong record ${state.name === 'recording' ? 'on' : ''}`}
        data-name="record"
        onClick={button.act}
      >
        {button.text}
      </button>
      <p class="sound-note" role="status">
        {state.name === 'idle' ? own.local : own[state.name]}
      </p>
    </>
  );
}
