// The three questions before and after the story, and the comparison of their answers.

import { useState } from 'preact/hooks';
import { STEPS } from '../../model/storySteps.ts';
import { goTo } from '../../parts/goToStep.ts';
import { useSession, useTexts } from '../../store/context.ts';
import { recall, remember } from '../../store/storage.ts';
import { copyText } from '../../ui/clipboard.ts';
import { predictionsSoFar } from './predictions.ts';
import {
  type Act,
  answered,
  answerText,
  countText,
  plainResult,
  QUESTIONS,
  type Quiz as QuizLog,
  readAnswers,
  START,
  STORED,
  TIMES,
  writeAnswers,
} from './questions.ts';
import { quiz as inEnglish } from './quiz.en.ts';
import { quiz as inChinese } from './quiz.zh.ts';
import { Rich } from './richText.tsx';
import { ShownHead } from './shownHead.tsx';

export const QUIZ = { en: inEnglish, zh: inChinese };

export function Quiz({ phone }: { phone: boolean }) {
  const session = useSession();
  const texts = useTexts(QUIZ);
  const { step } = session.state.value;
  const when = STEPS[step].name as 'before' | 'after';
  const stored = readAnswers(recall(STORED));
  const log: QuizLog = session.storyLog.value[when] ?? { ...START, answers: stored[when] };
  const question = QUESTIONS[log.answers.length];
  const set = (next: QuizLog) => {
    remember(STORED, writeAnswers({ ...stored, [when]: next.answers }));
    session.setStoryLog({ ...session.storyLog.peek(), [when]: next });
    goTo(session, step);
  };
  const answer = (act: Act | null) => set(answered(log, act));
  if (question)
    return (
      <>
        {texts[when].text.map((text) => (
          <p key={text}>{text}</p>
        ))}
        <p class="story-of">{texts.number(log.answers.length + 1, QUESTIONS.length)}</p>
        <div class="do">
          <p>
            <Rich of={texts.questions[question].ask} />
          </p>
          {phone && question === 'guess' && <ShownHead />}
        </div>
        <p class="current" role="status">
          {log.now && texts.current(log.now.what)}
        </p>
        <div class="quiz-buttons">
          <button
            type="button"
            class={`go ${log.now ? 'filled' : ''}`}
            disabled={!log.now}
            onClick={() => answer(log.now)}
          >
            {texts.confirm}
          </button>
          <button type="button" class="word" onClick={() => answer(null)}>
            {texts.skip}
          </button>
        </div>
        <p class="free">{texts.stays}</p>
      </>
    );
  return (
    <>
      <p>{texts[when].done}</p>
      {when === 'after' && <Results />}
      <button type="button" class="word" onClick={() => set(START)}>
        {texts.again}
      </button>
    </>
  );
}

/** The answers before and after the story with their marks, and a button that copies them. */
function Results() {
  const session = useSession();
  const texts = useTexts(QUIZ);
  const stored = readAnswers(recall(STORED));
  const [copied, setCopied] = useState(null as boolean | null);
  const { known, right } = predictionsSoFar(session.storyLog.value);
  const predictions = known > 0 ? [texts.predictions(right, known)] : [];
  const text = plainResult(texts, stored, predictions);
  const copy = async () => setCopied(await copyText(text));
  return (
    <>
      <ol class="quiz-results">
        {QUESTIONS.map((question, i) => (
          <li key={question}>
            <Rich of={texts.questions[question].ask} />
            <dl>
              {TIMES.map((when) => (
                <div key={when}>
                  <dt>{texts.when[when]}</dt>
                  <dd class={stored[when][i]?.right ? 'right-answer' : ''}>{answerText(texts, stored[when][i])}</dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ol>
      <p class="quiz-count">
        {TIMES.map((when) => `${texts.when[when]}${texts.colon}${countText(texts, stored[when])}`).join(' · ')}
        {predictions.map((line) => (
          <span key={line}>{line}</span>
        ))}
      </p>
      <button type="button" class="word strong copy" onClick={copy}>
        {copied ? texts.copied : texts.copy}
      </button>
      {copied === false && (
        <label class="not-copied">
          {texts.notCopied}
          <textarea readOnly value={text} rows={6} />
        </label>
      )}
    </>
  );
}
