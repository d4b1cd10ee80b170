// Failures of a request, of a model that could not be shown or of the worker, and how the page recovers from them.

import { signal } from '@preact/signals';
import type { ProblemValue } from '../model/protocol/protocol.ts';
import { TRAINED } from '../model/runInput.ts';
import { isOfHub } from '../model/state.ts';
import type { Answers } from './answers.ts';
import type { RequestError } from './client.ts';
import type { Document } from './document.ts';
import type { Opening } from './opening/openModels.ts';
import type { Preferences } from './preferences.ts';
import { readOnly } from './readOnly.ts';
import type { Waiting } from './waiting.ts';

export function createFailures({
  document,
  answers,
  waiting,
  preferences,
  opening,
  showAgain,
  restart,
}: {
  document: Document;
  answers: Answers;
  waiting: Waiting;
  preferences: Preferences;
  opening: Opening;
  /** requests again everything that the state shows */
  showAgain: () => void;
  /** starts a new worker */
  restart: () => void;
}) {
  const failure = signal(null as string | null);
  const refused = signal(null as { title: string; why: string } | null);
  const ended = signal(null as { lost: string[]; training: boolean } | null);

  const fail = (message: string | null) => {
    failure.value = message;
  };
  /** Shows the previous model again if the chosen model fails before its first answer. */
  function showPrevious(why: string) {
    const earlier = answers.restore();
    if (!earlier) return false;
    const { model } = document.state.peek();
    const others = preferences.words.peek().others as Record<string, string[]>;
    refused.value = { title: opening.drop(model) ?? others[model]?.[0] ?? model, why };
    document.restore(earlier);
    showAgain();
    return true;
  }

  function retry() {
    fail(null);
    restart();
  }

  /** Returns to the last complete run, with its text, model and changes. */
  function stopRun() {
    const before = waiting.lastState();
    const earlier = before ? null : answers.restore();
    if (before) document.restoreState(before);
    else if (earlier) document.restore(earlier);
    if (earlier) showAgain();
    fail(null);
  }

  const actions = {
    stopRun,
    /** Computes the run again that has failed. */
    runAgain() {
      fail(null);
      showAgain();
    },
    failure: readOnly(failure),
    fail,
    /** The model that could not be shown, and why. */
    refused: readOnly(refused),
    dismissRefused() {
      refused.value = null;
    },
    /** The opened models that were lost when the worker died, and true if training was shown; null before. */
    ended: readOnly(ended),
    dismissEnded() {
      ended.value = null;
    },
    retry,
  };

  return {
    actions,
    clear() {
      fail(null);
      refused.value = null;
    },
    onError(error: RequestError) {
      const { verb, message, code = '', values = [] } = error;
      if (code === 'gone') {
        const link = document.state.peek();
        if (isOfHub(link.model)) return opening.follow(link);
        // The page stores no files, so a link to an opened model does not work on another visit.
        opening.failed(error);
        return document.substitute(() => opening.choose('whale'));
      }
      if (/^(open$|picture|sound|hub)/.test(verb)) return opening.failed(error);
      const texts = preferences.words.peek().problems as Record<string, (...values: ProblemValue[]) => string>;
      const why = texts[code]?.(...values) ?? message;
      if (verb === 'show' && showPrevious(why)) return;
      if (verb === 'show') waiting.fail(why);
      fail(why);
    },
    /** `answered`: false if the worker died before its first answer; a new worker probably would too. */
    onEnd(answered: boolean) {
      const lost = opening.opened.peek().map(({ about }) => about.title ?? '');
      if (!answered) return fail(preferences.words.peek().endedAgain);
      ended.value = { lost, training: document.state.peek().model === TRAINED };
      retry();
    },
  };
}
export type Failures = ReturnType<typeof createFailures>;
