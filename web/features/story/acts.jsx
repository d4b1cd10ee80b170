// The acts of a step of the story. In each act the visitor predicts, does something, and sees the result next to the
// prediction.

import { Fragment } from 'preact';
import { useId } from 'preact/hooks';
import { useSession, useTexts } from '../../ui/context.js';
import { opened } from './observations.js';
import { questionValues, resultText } from './observationTexts.js';
import { actsDone, asks, cameTrue, predicted, saidIn } from './predictions.js';
import { Rich } from './richText.jsx';
import { STEPS } from './steps.js';
import { TEXTS } from './texts.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Session } from '../../store/session.js' */
/** @import { Filled, Values } from './observationTexts.js' */
/** @typedef {{ ask?: string, choices?: string[], task: string, taskOnPhone?: string, seen: string, other?: string,
 *   act?: string }} ActTexts */
/** @typedef {{ acts: ActTexts[] }} StepTexts */

/**
 * Returns the results of the acts that are done.
 * @param {Session} session @param {StepTexts} texts
 * @returns {Filled[]}
 */
export function resultsOf(session, texts) {
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const { name } = STEPS[step];
  return actsDone(step, log).flatMap((isDone, act) =>
    isDone ? [resultText(session.words.value, texts, name, act, log[name])] : [],
  );
}

/**
 * Shows the results of the acts that are done, and the next act with its figure.
 * @param {{ texts: StepTexts, values: Values, phone: boolean, figure: ComponentChildren }} props
 */
export function Acts({ texts, values, phone, figure }) {
  const session = useSession();
  const { step } = session.state.value;
  const done = actsDone(step, session.storyLog.value);
  const now = done.includes(false) ? done.indexOf(false) : done.length - 1;
  const result = (/** @type {number} */ act) => (
    <Result key={`seen${act}`} act={act} texts={texts} isPast={act < now} />
  );
  // The figure has the JSX attribute `key`, so that its element is not replaced when the next act begins. It may have
  // the focus.
  return [
    ...done.map((isDone, act) => act !== now && isDone && result(act)),
    <Task key={`task${now}`} act={now} text={texts.acts[now]} values={values} isDone={done[now]} phone={phone} />,
    <Fragment key="figure">{figure}</Fragment>,
    done[now] && result(now),
  ];
}

/**
 * The question of an act, and its task once the question is answered.
 * @param {{ act: number, text: ActTexts, values: Values, isDone: boolean, phone: boolean }} props
 */
function Task({ act, text, values, isDone, phone }) {
  const session = useSession();
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const isReady = !asks(step, act) || saidIn(step, act, log) !== undefined;
  return (
    <>
      {text.choices && (
        <Question act={act} text={text} values={values} came={isDone ? cameTrue(step, act, log) : null} />
      )}
      {isReady && !isDone && (
        <div class="do">
          <p>
            <Rich of={(phone && text.taskOnPhone) || text.task} values={values} />
          </p>
        </div>
      )}
      {isReady && text.act && <TrainLink text={text.act} />}
    </>
  );
}

/** @param {{ act: number, texts: StepTexts, isPast: boolean }} props isPast: true if the question is no longer shown */
function Result({ act, texts, isPast }) {
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
      {isPast && choices && said !== undefined && <span class="said">{words.said(choices[said])}</span>}
    </p>
  );
}

/**
 * A question with three choices. Once the result is known, the correct choice and the visitor's choice are marked.
 * @param {{ act: number, text: ActTexts, values: Values, came: number | null }} props
 */
function Question({ act, text, values, came }) {
  const session = useSession();
  const words = useTexts(TEXTS);
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const said = saidIn(step, act, log);
  const id = useId();
  const choose = (/** @type {number} */ choice) =>
    session.setStoryLog(predicted(session.storyLog.peek(), step, act, choice));
  return (
    <fieldset class="ask">
      <legend>
        <Rich of={text.ask ?? ''} values={values} />
      </legend>
      {text.choices?.map((choice, i) => (
        <label key={choice} class={`answer ${came === i ? 'came' : ''}`}>
          <input
            type="radio"
            name={id}
            checked={said === i}
            aria-disabled={came !== null}
            onClick={(event) => came !== null && event.preventDefault()}
            onChange={() => came === null && choose(i)}
          />
          <span>{choice}</span>
          {came !== null && (said === i || came === i) && (
            <small>{[said === i && words.you, came === i && words.seen].filter(Boolean).join(' · ')}</small>
          )}
        </label>
      ))}
    </fieldset>
  );
}

/** A button that opens training. @param {{ text: string }} props */
function TrainLink({ text }) {
  const session = useSession();
  const go = () => {
    session.setStoryLog(opened(session.storyLog.peek()));
    session.training.enter();
  };
  return (
    <button type="button" class="act" onClick={go}>
      {text}
    </button>
  );
}

/** Returns the values of the placeholders in a step's texts. @param {Session} session @returns {Values | null} */
export function valuesOf(session) {
  const { step, cell } = session.state.value;
  const { name } = STEPS[step];
  const run = session.run.value;
  return questionValues(name, session.storyLog.value[name], { run, cell: cell ?? session.cell.value });
}
