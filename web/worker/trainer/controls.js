// The actions of the verb controlTraining, by name.

import { writeZip } from '../../../src/js/io/zip.js';
import { onnxFile, pytorchFolder } from './exportedFiles.js';

/** @import { TrainingControl } from '../../store/protocol.js' */
/** @import { Send } from '../types.js' */
/** @import { Trainer } from './trainer.js' */
/** @import { Training } from './training.js' */
/** @import { TrainingRun } from './trainingRun.js' */
/** @typedef {TrainingControl['action']} Action */
/** @template {Action} A @typedef {Extract<TrainingControl, { action: A }>} ControlOf */
/** @typedef {Exclude<Action, 'remove'>} RunAction */
/** @typedef {{ training: Training, run: TrainingRun, trainer: Trainer, send: Send }} Context */
/** @typedef {{ [A in RunAction]: (context: Context, control: ControlOf<A>) => unknown }} Actions */

/** @type {Actions} */
const ACTIONS = {
  play: ({ run }) => run.play(),
  pause({ run, training }) {
    run.pause();
    training.display.show(run);
  },
  step: ({ run }) => run.stepOnce(),
  back: ({ run }, { step }) => run.goBack(step),
  look({ run, training }, { layer, head }) {
    training.display.chosen = { layer, head };
    training.display.show(run);
  },
  rate: ({ run }, { rate }) => run.setRate(rate),
  speed: ({ run }, { speed }) => run.setSpeed(speed),
  save: ({ trainer, send }) => send('savedFile', { bytes: trainer.save(), settings: trainer.settings }),
  async folder({ trainer, send }) {
    const bytes = writeZip(await pytorchFolder(trainer));
    send('savedFile', { bytes, settings: trainer.settings, extension: 'zip' });
  },
  async onnx({ trainer, send }) {
    send('savedFile', { bytes: await onnxFile(trainer), settings: trainer.settings, extension: 'onnx' });
  },
};

/**
 * Performs an action. If no model is in training, only the action `remove` has an effect, which deletes a stored model.
 * @param {Training} training @param {TrainingControl} control @param {Send} send
 */
export async function perform(training, control, send) {
  if (control.action === 'remove') return training.storedModels.remove(control.key);
  const { run } = training;
  if (!run) return;
  await ACTIONS[control.action]({ training, run, trainer: run.trainer, send }, /** @type {never} */ (control));
}
