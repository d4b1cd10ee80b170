// The actions of the verb controlTraining, by name.

import { writeZip } from '../../../src/js/io/zip.ts';
import type { TrainingControl } from '../../model/protocol/protocol.ts';
import type { Send } from '../types.ts';
import { onnxFile, pytorchFolder } from './exportedFiles.ts';
import type { Trainer } from './trainer.ts';
import type { Training } from './training.ts';
import type { TrainingRun } from './trainingRun.ts';
export type Action = TrainingControl['action'];
export type ControlOf<A extends Action> = Extract<TrainingControl, { action: A }>;
export type RunAction = Exclude<Action, 'remove'>;
export type Context = { training: Training; run: TrainingRun; trainer: Trainer; send: Send };
export type Actions = { [A in RunAction]: (context: Context, control: ControlOf<A>) => unknown };

const ACTIONS: Actions = {
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
 */
export async function perform(training: Training, control: TrainingControl, send: Send) {
  if (control.action === 'remove') return training.storedModels.remove(control.key);
  const { run } = training;
  if (!run) return;
  await ACTIONS[control.action]({ training, run, trainer: run.trainer, send }, control as never);
}
