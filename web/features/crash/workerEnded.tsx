// The message after the worker has crashed. It says that the worker was restarted and which models are lost.

import { useSession } from '../../store/context.ts';
import { texts as inEnglish } from './workerEnded.en.ts';
import { texts as inChinese } from './workerEnded.zh.ts';

const TEXTS = { en: inEnglish, zh: inChinese };

export function Ended() {
  const session = useSession();
  const texts = TEXTS[session.language.value];
  const { lost, training } = session.ended.value ?? { lost: [], training: false };
  return (
    <p class="failure" role="alert">
      {texts.ended} {lost.length > 0 && texts.lost(lost.join(', '))} {training && texts.training}{' '}
      <button type="button" class="word strong" onClick={() => session.dismissEnded()}>
        {session.words.value.close}
      </button>
    </p>
  );
}
