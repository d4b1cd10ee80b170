// The acts of a step. In each the visitor predicts, does something, and sees the result next to the prediction.

import { useId } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { actsDone, asks, cameTrue, opened, predicted, saidIn } from './observations.js';
import { questionValues, resultText } from './observationTexts.js';
import { Rich } from './richText.jsx';
import { STEPS } from './steps.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Filled, Values } from './observationTexts.js' */
/** @typedef {{ ask?: string, choices?: string[], task: string, taskOnPhone?: string, seen: string, other?: string,
 *   act?: string }} ActTexts */
/** @typedef {{ acts: ActTexts[] }} StepTexts */

/**
 * The results of the acts that are done.
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

/** @param {{ texts: StepTexts, values: Values, phone: boolean }} props */
export function Acts({ texts, values, phone }) {
  const session = useSession();
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const done = actsDone(step, log);
  const now = done.includes(false) ? done.indexOf(false) : done.length - 1;
  return texts.acts
    .slice(0, now + 1)
    .map((act, i) => (
      <Act key={i} act={i} texts={texts} values={values} isPast={i < now} isDone={done[i]} phone={phone} text={act} />
    ));
}

/**
 * @param {object} props
 * @param {number} props.act
 * @param {StepTexts} props.texts
 * @param {ActTexts} props.text
 * @param {Values} props.values
 * @param {boolean} props.isPast another act follows: only its result is shown
 * @param {boolean} props.isDone
 * @param {boolean} props.phone
 */
function Act({ act, texts, text, values, isPast, isDone, phone }) {
  const session = useSession();
  const words = session.words.value;
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const { name } = STEPS[step];
  const said = saidIn(step, act, log);
  const isReady = !asks(step, act) || said !== undefined;
  return (
    <>
      {!isPast && text.choices && (
        <Question act={act} text={text} values={values} came={isDone ? cameTrue(step, act, log) : null} />
      )}
      {isReady && !isDone && (
        <div class="do">
          <p>
            <Rich of={(phone && text.taskOnPhone) || text.task} values={values} />
          </p>
        </div>
      )}
      {isDone && (
        <p class="seen">
          <Rich {...resultText(words, texts, name, act, log[name])} />
          {isPast && text.choices && said !== undefined && (
            <span class="said">{words.story.said(text.choices[said])}</span>
          )}
        </p>
      )}
      {isReady && text.act && <TrainLink text={text.act} />}
    </>
  );
}

/**
 * A question with three answers. Once the result is known, it and the visitor's answer are marked.
 * @param {{ act: number, text: ActTexts, values: Values, came: number | null }} props
 */
function Question({ act, text, values, came }) {
  const session = useSession();
  const words = session.words.value.story;
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
        <label key={choice} class={`choice ${came === i ? 'came' : ''}`}>
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

/** Opens training. @param {{ text: string }} props */
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

/** The values of a step's texts. @param {Session} session @returns {Values | null} */
export function valuesOf(session) {
  const { step, cell } = session.state.value;
  const { name } = STEPS[step];
  const run = session.run.value;
  return questionValues(name, session.storyLog.value[name], { run, cell: cell ?? session.cell.value });
}
