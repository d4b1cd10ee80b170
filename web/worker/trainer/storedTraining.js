// A training as a record of the model store, and as a file that was saved in the page.

import { readSafetensors } from '../../../src/js/io/formats.js';
import { noCurves } from '../../features/train/curves.js';
import { keyOf } from '../../features/train/lessons.js';
import { checkSettings } from '../../features/train/tasks.js';
import { everyOther } from './snapshots.js';

/** @import { Curves } from '../../features/train/curves.js' */
/** @import { StoredTraining } from '../modelStore.js' */
/** @import { Snapshot } from './snapshots.js' */
/** @import { Progress, Trainer } from './trainer.js' */

/** Bytes of snapshots that are stored: of a longer film every other frame. */
const MAX_STORED = 8e6;

/** @param {Snapshot} snapshot */
const sizeOf = ({ state }) => Object.values(state).reduce((sum, { data }) => sum + data.byteLength, 0);

/** @param {Trainer} trainer @returns {Progress} */
function limitedProgress(trainer) {
  const { snapshots: all, ...rest } = trainer.progress();
  let snapshots = all;
  while (snapshots.length > 1 && snapshots.length * sizeOf(snapshots[0]) > MAX_STORED)
    snapshots = everyOther(snapshots);
  return { ...rest, snapshots };
}

/**
 * @param {Trainer} trainer
 * @param {{ key: string, end: number, curves: Curves }} training
 * @returns {StoredTraining}
 */
export const recordOf = (trainer, training) => ({
  ...training,
  settings: trainer.settings,
  steps: trainer.steps,
  at: Date.now(),
  bytes: trainer.save(),
  progress: limitedProgress(trainer),
});

/** The record of a file that was saved in the page. @param {Uint8Array} bytes @returns {StoredTraining} */
export function recordOfFile(bytes) {
  const { metadata } = readSafetensors(bytes);
  if (!metadata.settings) throw new Error('this file was not saved by the training here: it has no settings');
  const settings = JSON.parse(metadata.settings);
  checkSettings(settings);
  const steps = Number(metadata.steps ?? 0);
  return { key: keyOf(settings), settings, steps, end: steps, at: 0, bytes, curves: noCurves() };
}
