// The lines that end the first visit. They lead to the story and to training, until the visitor changes something.

import { useSession } from '../../ui/context.js';
import { openStory } from '../story/goTo.js';

export function Closing() {
  const session = useSession();
  const { first: words, story, train } = session.words.value;
  const how = session.closing.value;
  if (!how) return null;
  return (
    <p class="closing">
      {how === 'why' && words.closing.end}
      {words.closing.story[0]}
      <button type="button" class="word" onClick={() => openStory(session, session.state.peek().step)}>
        {story.name}
      </button>
      {words.closing.story[1]}
      <button type="button" class="word" onClick={session.training.enter}>
        {train.train}
      </button>
      {words.closing.train}
    </p>
  );
}
