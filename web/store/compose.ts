// Creates the parts of the session and connects them with each other.

import { change, initialState, type State } from '../model/state.ts';
import { readLink } from './address.ts';
import { createAnswers } from './answers.ts';
import { createChat } from './chat.ts';
import { createContinuation } from './continuation.ts';
import { createDocument } from './document.ts';
import { createFailures } from './failures.ts';
import { createAtlas } from './measured/atlas.ts';
import { createCircuitStore } from './measured/circuit.ts';
import { createSurprise } from './measured/surprise.ts';
import { createTracing } from './measured/tracing.ts';
import { createOpening } from './opening/openModels.ts';
import { createProgramModel } from './opening/programModel.ts';
import { createPreferences } from './preferences.ts';
import { createReceiver } from './receive.ts';
import { createRequests, keyOfGuess, keyOfShow } from './requests.ts';
import type { SessionOptions } from './sessionOptions.ts';
import { createTraining } from './training/training.ts';
import { createUi } from './ui.ts';
import { createWaiting } from './waiting.ts';

/** Returns a text that identifies the selected cell and the pinned run. */
const cellKey = ({ cell, pinned }: State) => JSON.stringify([cell, pinned]);

export function compose(options: SessionOptions) {
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

  /** Applies a change of the state: to the training if it is shown, otherwise by a new run of the model. */
  function follow(before: State | null, now: State) {
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
