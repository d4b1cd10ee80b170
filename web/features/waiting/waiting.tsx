// The line that says what is computed while the page still shows the previous run, and the reason why a run failed, in
// place of the picture.

import { useEffect } from 'preact/hooks';
import { useSession } from '../../store/context.ts';
import { texts as inEnglish } from './waiting.en.ts';
import { texts as inChinese } from './waiting.zh.ts';

export { default as styles } from './waiting.css';

const TEXTS = { en: inEnglish, zh: inChinese };
const useTexts = () => TEXTS[useSession().language.value];

/** Says what is computed and how far it is, with a button that returns to the previous run. */
export function Waiting() {
  const session = useSession();
  const texts = useTexts();
  const computing = session.computing.value;
  const isOld = session.isOld.value;
  // The announcement of the change, such as the name of the chosen head, stays before that of the waiting.
  useEffect(() => {
    const [change] = session.announcement.peek().split(texts.computing);
    const said = [change.trim(), texts.computing, isOld && texts.greyIsOld];
    session.announce(said.filter(Boolean).join(' '));
  }, []);
  return (
    <div class="run-state waiting">
      <p>
        {computing ? texts.layers(computing.tokens, computing.done, computing.total) : texts.computing}{' '}
        {session.canStop.value && (
          <button type="button" class="word strong" onClick={session.stopRun}>
            {texts.stop}
          </button>
        )}
      </p>
      <progress
        aria-label={texts.computing}
        max={computing?.total ?? 1}
        value={computing ? computing.done : undefined}
      />
    </div>
  );
}

export function FailedRun() {
  const session = useSession();
  const texts = useTexts();
  return (
    <div class="run-state failed-run" role="alert">
      <h2>{texts.failed}</h2>
      <p>{session.failedRun.value}</p>
      <p class="old-note">{texts.greyIsOld}</p>
      <p>
        <button type="button" class="word strong" onClick={session.stopRun}>
          {texts.back}
        </button>{' '}
        <button type="button" class="word" onClick={session.runAgain}>
          {texts.again}
        </button>
      </p>
    </div>
  );
}
