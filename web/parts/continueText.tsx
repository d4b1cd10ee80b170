// The button that lets the model continue the text until it is stopped.

import { useSession } from '../store/context.ts';

export function WriteOn() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const writing = session.writing.value;
  if (run && !run.about.writes) return null;
  return (
    <button
      type="button"
      class={`word write ${writing ? 'stays' : ''}`}
      disabled={!run?.T}
      onClick={() => (writing ? session.stopWriting() : session.write())}
    >
      {writing ? words.stop : words.write}
    </button>
  );
}
