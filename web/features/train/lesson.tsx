// The choice of the training task.

import { useEffect, useState } from 'preact/hooks';
import { isLongEnough, MIN_CHARACTERS, OWN_TEXT, TASK_NAMES } from '../../model/training/settings.ts';
import { useSession } from '../../store/context.ts';
import { Menu } from '../../ui/menu.tsx';
import { SAMPLE } from './sample.ts';
import { useTrainTexts } from './texts.ts';

/** The current task, with buttons for the other tasks, or with a menu of them if there is little room. */
export function Lesson({ compact = false }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTrainTexts();
  const { training } = session;
  const { task } = session.state.value.training;
  return (
    <section class="lesson" aria-label={texts.task}>
      <h2>{words.train.tasks[task]}</h2>
      <p class="what">{texts.about[task]}</p>
      {compact ? (
        <Menu
          label={texts.another}
          name={texts.another}
          items={TASK_NAMES.map((name) => ({
            key: name,
            label: words.train.tasks[name],
            chosen: name === task,
            act: () => training.choose({ task: name }, SAMPLE),
          }))}
        />
      ) : (
        <div class="tasks" role="group" aria-label={texts.task}>
          {TASK_NAMES.map((name) => (
            <button
              key={name}
              type="button"
              class="word"
              aria-pressed={name === task}
              onClick={() => name !== task && training.choose({ task: name }, SAMPLE)}
            >
              {words.train.tasks[name]}
            </button>
          ))}
        </div>
      )}
      {task === OWN_TEXT && <OwnText />}
    </section>
  );
}

/** A field for the visitor's own text. The button that begins training is enabled when the text is long enough. */
function OwnText() {
  const session = useSession();
  const texts = useTrainTexts();
  const { lesson } = session.state.value;
  const [text, setText] = useState(lesson);
  useEffect(() => setText(lesson), [lesson]);
  const enough = isLongEnough(text);
  const isWhole = text === lesson && session.training.changes.value?.loss === null;
  return (
    <div class="own">
      <textarea
        aria-label={texts.ownText}
        rows={3}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p>
        <button
          type="button"
          class="word strong"
          disabled={!enough || text === lesson}
          onClick={() => session.training.setLesson(text)}
        >
          {texts.learn}
        </button>
        <span>{enough ? (isWhole ? texts.tooShort : texts.heldOut) : texts.short(MIN_CHARACTERS)}</span>
      </p>
    </div>
  );
}
