// Creates the parts of the session and connects them with each other.

import { readLink } from '../features/story/steps.js';
import { createAnswers } from './answers.js';
import { createAtlas } from './atlas.js';
import { createChat } from './chat.js';
import { createCircuitStore } from './circuit.js';
import { createContinuation } from './continuation.js';
import { createDocument } from './document.js';
import { createFailures } from './failures.js';
import { createOpening } from './openModels.js';
import { createPreferences } from './preferences.js';
import { createProgramModel } from './programModel.js';
import { createReceiver } from './receive.js';
import { createRequests, keyOfGuess, keyOfShow } from './requests.js';
import { change, initialState } from './state.js';
import { createSurprise } from './surprise.js';
import { createTracing } from './tracing.js';
import { createTraining } from './training.js';
import { createUi } from './ui.js';
import { createWaiting } from './waiting.js';

/** @import { MountOptions } from '../entries/mount.jsx' */
/** @import { State } from './state.js' */

/** Returns a text that identifies the selected cell and the pinned run. @param {State} state */
const cellKey = ({ cell, pinned }) => JSON.stringify([cell, pinned]);

/** @param {MountOptions} options */
export function compose(options) {
  const { state: begin = '' } = options;
  const first = typeof begin === 'string' ? readLink(begin) : change(initialState, begin);
  const ui = createUi();
  const preferences = createPreferences(options);
  const answers = createAnswers(first.model);
  const document = createDocument(first, {
    onState: options.onState,
    onModel(model, before) {
      answers.change(model, opening.aboutOf(model), before);
      failures.clear();
      waiting.leave();
      ui.setHover(null);
      ui.setPinnedHover(null);
      requests.leaveModel();
      atlas.clear();
      circuit.clear();
    },
    onChange(before, now) {
      if (now.layer !== before.layer || now.head !== before.head) ui.pick(null);
      if (cellKey(now) !== cellKey(before)) ui.setPinnedHover(null);
      if (keyOfShow(now) !== keyOfShow(before)) ui.forgetAnnouncement();
      if (keyOfGuess(now) !== keyOfGuess(before)) {
        requests.cancel('ablate');
        answers.set({ ablation: null });
      }
      requests.showComposition();
      tracing.follow(now);
      circuit.follow(now);
      surprise.follow(now);
      follow(before, now);
    },
  });
  const { state, update } = document;
  const waiting = createWaiting({ run: answers.fields.run, state });
  const requests = createRequests({
    start: options.start,
    state,
    waiting,
    onPart: (part) => receiver.receive(part),
    onError: (error) => failures.onError(error),
    onWritten: () => document.endGesture(),
    onEnd: (answered) => failures.onEnd(answered),
  });
  const training = createTraining({ requests, state, update, about: answers.fields.about });
  const opening = createOpening({ requests, document, continueTraining: training.loadFile });
  const tracing = createTracing({ requests, state, answers });
  const circuit = createCircuitStore({ requests, state });
  const surprise = createSurprise({ requests, state });
  const atlas = createAtlas({ requests, state, about: answers.fields.about });
  const chat = createChat({ requests, document, answers });
  const continuation = createContinuation({ document, requests });
  const program = createProgramModel(options.programModel ?? null, requests);

  /**
   * Applies a change of the state: to the training if it is shown, otherwise by a new run of the model.
   * @param {State | null} before
   */
  function follow(before, /** @type {State} */ now) {
    if (training.follow(before, now)) {
      requests.forgetShown();
      waiting.forget();
    } else requests.showIfChanged();
  }
  function showAgain() {
    requests.forgetShown();
    follow(null, state.peek());
  }
  function restart() {
    requests.restart();
    opening.forget();
    program.send();
    showAgain();
    surprise.again();
  }
  const failures = createFailures({ document, answers, waiting, preferences, opening, showAgain, restart });
  const store = {
    ui,
    preferences,
    answers,
    document,
    waiting,
    requests,
    opening,
    training,
    tracing,
    circuit,
    surprise,
    atlas,
    chat,
    continuation,
    program,
    failures,
  };
  const receiver = createReceiver(store, options.refuses);
  return { ...store, receiver, showAgain };
}
