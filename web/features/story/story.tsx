// The story in the reading column: a title, a short text, and acts. The story sets the state of the page when a step
// begins, and observes the visitor's actions. The rest of the page continues to work.

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { COUNT, DOTS, isBefore, neighbours, numberedStep, partOf, STEPS } from '../../model/storySteps.ts';
import { goTo } from '../../parts/goToStep.ts';
import { later } from '../../parts/lazy.ts';
import { useSession, useTexts } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { Acts, resultsOf, valuesOf } from './acts.tsx';
import { Fetched, Tokens } from './figures.tsx';
import { actsDone, hasAnswered } from './predictions.ts';
import { QUIZ, Quiz } from './quiz.tsx';
import { Rich } from './richText.tsx';
import { StepLink } from './stepLink.tsx';
import { steps as inEnglish } from './steps.en.ts';
import { steps as inChinese } from './steps.zh.ts';
import { TEXTS } from './texts.ts';
import { useSpeech, useWatch } from './useStory.ts';

export { default as styles } from './story.css';

const Inside = later(() => import('./inside.tsx'), 'Inside');
const STORIES = { en: inEnglish, zh: inChinese };
const textsOf = ({ language: { value: language } }: Session): Record<string, any> => ({
  ...STORIES[language],
  ...QUIZ[language],
});

/** wide: true on a wide screen, where a figure that is as large as the model replaces it in the left column */
export function Story({
  compact = false,
  phone = false,
  wide = false,
}: {
  compact?: boolean;
  phone?: boolean;
  wide?: boolean;
}) {
  const session = useSession();
  const words = useTexts(TEXTS);
  const { step } = session.state.value;
  const title = useRef(null as HTMLHeadingElement | null);
  const { name, quiz } = STEPS[step];
  const texts = textsOf(session)[name];
  const number = numberedStep(step);
  const values = valuesOf(session);
  // After the first answer the task and its result need the room of the explanation.
  const isBegun = hasAnswered(step, session.storyLog.value);
  useWatch();
  useSpeech(step, quiz ? [] : resultsOf(session, texts));
  useEffect(() => {
    if (isBegun && title.current?.parentElement) showLatest(title.current.parentElement);
  }, [session.storyLog.value]);
  useLayoutEffect(() => {
    // After a change of the step the title takes the focus, but not if an address opened the story.
    if (session.storyMoved.value) title.current?.focus();
  }, [step]);
  const figures: Record<string, ComponentChildren> = { why: !wide && <Inside row />, fetched: <Fetched /> };
  const dense = compact || name === 'why' || name === 'fetched' || name === 'matter' || name === 'cut';
  return (
    <section
      class={`story ${dense ? 'dense' : ''} ${compact ? 'short' : ''}`}
      aria-labelledby="story-title"
      data-step={step + 1}
    >
      <p class="story-of">
        {number === null ? session.words.value.story.name : words.of(number + 1, COUNT, partOf(step))}
        {number !== null && !session.embedded && <StepLink key={step} step={step} />}
      </p>
      <h2 id="story-title" tabIndex={-1} ref={title}>
        {texts.title}
      </h2>
      {quiz && <Quiz key={step} phone={phone} />}
      {values &&
        !quiz &&
        !isBegun &&
        texts.text.map((text: string) => (
          <p key={text}>
            <Rich of={text} values={values} />
          </p>
        ))}
      {name === 'tokens' && <Tokens />}
      {values && !quiz && (
        <Acts key={step} {...{ texts, values, phone }} compact={wide && compact} figure={figures[name]} />
      )}
      <Steps />
      {!isBegun && <p class="free">{words.free}</p>}
    </section>
  );
}

/** Scrolls the next question into view or, once answered, its task, figure and result. */
function showLatest(story: HTMLElement) {
  const question = story.querySelector('.ask:not(:has(:checked))');
  const all = story.querySelectorAll('.do, .pair-area, .seen, .act');
  (question ?? all[all.length - 1])?.scrollIntoView({ block: 'nearest' });
}

function Steps() {
  const session = useSession();
  const words = useTexts(TEXTS);
  const texts = textsOf(session);
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const isDone = actsDone(step, log).every((one) => one);
  const { before, after } = neighbours(step);
  const next = after === null ? null : texts[STEPS[after].name];
  return (
    <nav class="steps" aria-label={words.dots}>
      <ol>
        {DOTS.map((dot) => {
          const { name } = STEPS[dot];
          const ready = actsDone(dot, log).every((one) => one);
          const part = partOf(dot);
          const label = words.dot(Number(numberedStep(dot)) + 1, part, texts[name].title, ready);
          return (
            <li key={name} class={part === 2 ? 'part-two' : undefined}>
              <button
                type="button"
                class={ready || isBefore(dot, step) ? 'past' : ''}
                aria-current={dot === step ? 'step' : undefined}
                aria-label={label}
                title={label}
                onClick={() => goTo(session, dot)}
              />
            </li>
          );
        })}
      </ol>
      {before !== null && (
        <button type="button" class="word" onClick={() => goTo(session, before)}>
          {words.back}
        </button>
      )}
      <button
        type="button"
        class={`go ${isDone ? 'filled' : ''}`}
        onClick={() => (after === null ? session.update({ panel: 'reading' }) : goTo(session, after))}
      >
        {next ? words.next(next.short ?? next.title) : words.end}
      </button>
    </nav>
  );
}
