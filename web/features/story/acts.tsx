// The acts of a step of the story. In each act the visitor predicts, does something, and sees the result next to the
// prediction.

import { type ComponentChildren, Fragment } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { STEPS } from '../../model/storySteps.ts';
import { useSession, useTexts } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { opened } from './observations.ts';
import { type Filled, questionValues, resultText, type Values } from './observationTexts.ts';
import { actsDone, asks, cameTrue, predicted, saidIn } from './predictions.ts';
import { filled, Rich } from './richText.tsx';
import { ShownHead } from './shownHead.tsx';
import { TEXTS } from './texts.ts';
export type ActTexts = { ask?: string; choices?: string[]; task: string; seen: string; other?: string; act?: string };
export type StepTexts = { acts: ActTexts[] };

/** Returns the results of the acts that are done. */
export function resultsOf(session: Session, texts: StepTexts): Filled[] {
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const { name } = STEPS[step];
  return actsDone(step, log).flatMap((isDone, act) =>
    isDone ? [resultText(session.words.value, texts, name, act, log[name])] : [],
  );
}

/** Shows the results of the acts that are done, and the next act with its figure. */
export function Acts({
  texts,
  values,
  phone,
  compact,
  figure,
}: {
  texts: StepTexts;
  values: Values;
  phone: boolean;
  compact: boolean;
  figure: ComponentChildren;
}) {
  const session = useSession();
  const { step } = session.state.value;
  const done = actsDone(step, session.storyLog.value);
  const now = done.includes(false) ? done.indexOf(false) : done.length - 1;
  const result = (act: number) => (
    <Result key={`seen${act}`} act={act} texts={texts} values={values} isPast={act < now} />
  );
  // The figure has the JSX attribute `key`, so that its element is not replaced when the next act begins. It may have
  // the focus.
  return [
    ...done.map((isDone, act) => act !== now && isDone && result(act)),
    <Task key={`task${now}`} {...{ values, phone, compact }} act={now} text={texts.acts[now]} isDone={done[now]} />,
    <Fragment key="figure">{figure}</Fragment>,
    done[now] && result(now),
  ];
}

/** The question of an act, then, once answered, its task. `compact`: the column is low. */
function Task({
  act,
  text,
  values,
  isDone,
  phone,
  compact,
}: {
  act: number;
  text: ActTexts;
  values: Values;
  isDone: boolean;
  phone: boolean;
  compact: boolean;
}) {
  const session = useSession();
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const isReady = !asks(step, act) || saidIn(step, act, log) !== undefined;
  return (
    <>
      {text.choices && (
        <Question
          act={act}
          text={text}
          values={values}
          came={isDone ? cameTrue(step, act, log) : null}
          isShort={(phone || compact) && isReady}
        />
      )}
      {isReady && !isDone && (
        <div class="do">
          <p>
            <Rich of={text.task} values={values} />
          </p>
          {phone && STEPS[step].name === 'matter' && <ShownHead />}
        </div>
      )}
      {isReady && text.act && <TrainLink text={text.act} isFilled={!isDone} />}
    </>
  );
}

/** `isPast`: true if the question is no longer shown. */
function Result({ act, texts, values, isPast }: { act: number; texts: StepTexts; values: Values; isPast: boolean }) {
  const session = useSession();
  const words = useTexts(TEXTS);
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const { name } = STEPS[step];
  const said = saidIn(step, act, log);
  const { choices } = texts.acts[act];
  return (
    <p class="seen">
      <Rich {...resultText(session.words.value, texts, name, act, log[name])} />
      {isPast && choices && said !== undefined && (
        <span class="said">{words.said(filled(choices[said], values), cameTrue(step, act, log) === said)}</span>
      )}
    </p>
  );
}

/**
 * A question with three choices; the result marks the correct and the visitor's one. `isShort`: a press on the
 * visitor's choice shows the others.
 */
function Question({
  act,
  text,
  values,
  came,
  isShort,
}: {
  act: number;
  text: ActTexts;
  values: Values;
  came: number | null;
  isShort: boolean;
}) {
  const session = useSession();
  const words = useTexts(TEXTS);
  const [isOpen, setOpen] = useState(false);
  // Arrow keys choose each answer that they pass, so for the keyboard all choices stay until the result.
  const usesKeys = useRef(false);
  const setKeys = (uses: boolean) => () => {
    usesKeys.current = uses;
  };
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const said = saidIn(step, act, log);
  const id = useId();
  const hidesOthers = isShort && (!isOpen || came !== null);
  const choose = (choice: number) => {
    setOpen(usesKeys.current);
    session.setStoryLog(predicted(session.storyLog.peek(), step, act, choice));
  };
  return (
    <fieldset class="ask" onKeyDown={setKeys(true)} onPointerDown={setKeys(false)}>
      <legend>
        <Rich of={text.ask ?? ''} values={values} />
      </legend>
      {text.choices?.map(
        (choice, i) =>
          (!hidesOthers || i === said || i === came) && (
            <label key={choice} class={`answer ${came === i ? 'came' : ''}`}>
              <input
                type="radio"
                name={id}
                checked={said === i}
                aria-disabled={came !== null}
                onClick={(event) => {
                  if (came !== null) event.preventDefault();
                  else if (hidesOthers) setOpen(true);
                }}
                onChange={() => came === null && choose(i)}
              />
              <span>{filled(choice, values)}</span>
              {came !== null && <Marked isSaid={said === i} isSeen={came === i} words={words} />}
            </label>
          ),
      )}
    </fieldset>
  );
}

/** Marks a choice: the visitor's, which was right or wrong, and the one that was seen. */
function Marked({ isSaid, isSeen, words }: { isSaid: boolean; isSeen: boolean; words: typeof TEXTS.en }) {
  if (isSaid) return <small>{isSeen ? words.youRight : words.youWrong}</small>;
  return isSeen && <small>{words.seen}</small>;
}

function TrainLink({ text, isFilled }: { text: string; isFilled: boolean }) {
  const session = useSession();
  const go = () => {
    session.setStoryLog(opened(session.storyLog.peek()));
    session.training.enter();
  };
  return (
    <button type="button" class={`act go ${isFilled ? 'filled' : ''}`} onClick={go}>
      {text}
    </button>
  );
}

/** Returns the values of the placeholders in a step's texts. */
export function valuesOf(session: Session): Values | null {
  const { step, cell } = session.state.value;
  const { name } = STEPS[step];
  const run = session.run.value;
  const words = session.words.value;
  return questionValues(name, session.storyLog.value[name], { run, cell: cell ?? session.cell.value, words });
}
