// The lines that end the first visit. They lead to the story and to training.

import { openStory } from '../../parts/goToStep.ts';
import { useSession, useTexts } from '../../store/context.ts';
import { texts as en } from './closing.en.ts';
import { texts as zh } from './closing.zh.ts';

export { default as styles } from './closing.css';

export function ClosingLines() {
  const session = useSession();
  const texts = useTexts({ en, zh });
  const { story, train } = session.words.value;
  return (
    <p class="closing">
      {session.closing.value === 'why' && texts.end}
      {texts.story[0]}
      <button type="button" class="word" onClick={() => openStory(session, session.state.peek().step)}>
        {story.name}
      </button>
      {texts.story[1]}
      <button type="button" class="word" onClick={session.training.enter}>
        {train.train}
      </button>
      {texts.train}
    </p>
  );
}
