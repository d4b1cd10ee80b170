// The actions of the verb controlTraining, by name.

import { writeZip } from '../../../src/js/io/zip.js';
import { onnxFile, pytorchFolder } from './exportedFiles.js';

/** @import { TrainingControl } from '../../store/protocol.js' */
/** @import { Send } from '../worker.js' */
/** @import { Training } from './training.js' */
/** @typedef {TrainingControl['action']} Action */
/** @typedef {{ [A in Action]: (training: Training, control: ControlOf<A>, send: Send) => unknown }} Actions */
/** @template {Action} A @typedef {Extract<TrainingControl, { action: A }>} ControlOf */

/** @type {Actions} */
const ACTIONS = {
  play: (training) => training.play(),
  pause(training) {
    training.pause();
    training.show();
  },
  step: (training) => training.stepOnce(),
  back: (training, { step }) => training.goBack(step),
  look: (training, { layer, head }) => training.chooseHead({ layer, head }),
  rate: (training, { rate }) => training.setRate(rate),
  speed: (training, { speed }) => training.setSpeed(speed),
  remove: (training, { key }) => training.removeStored(key),
  save({ trainer }, _control, send) {
    send('savedFile', { bytes: trainer.save(), settings: trainer.settings });
  },
  async folder({ trainer }, _control, send) {
    const bytes = writeZip(await pytorchFolder(trainer));
    send('savedFile', { bytes, settings: trainer.settings, extension: 'zip' });
  },
  async onnx({ trainer }, _control, send) {
    send('savedFile', { bytes: await onnxFile(trainer), settings: trainer.settings, extension: 'onnx' });
  },
};

/** Stored models can be removed before any training; all other actions need one. @param {Action} action */
const needsTrainer = (action) => action !== 'remove';

/** @param {Training} training @param {TrainingControl} control @param {Send} send */
export async function perform(training, control, send) {
  if (needsTrainer(control.action) && !training.isStarted) return;
  await ACTIONS[control.action](training, /** @type {never} */ (control), send);
}
