// Writes and opens the file of the demo model, a language model that was trained on Moby-Dick by
// src/build/demo/pretrain.js.

import { roundRows } from '../../../src/js/io/roundedRows.js';
import { readSafetensors, writeSafetensors } from '../../../src/js/io/safetensors.js';

/** @import { Hl } from '../../store/types.js' */

/**
 * @param {Uint8Array} bytes a file written by transformer.save
 * @param {Record<string, string>} notes metadata about the training
 * @returns {Uint8Array} a file of the same model in which each weight has one byte
 */
export function shrinkDemoModel(bytes, notes) {
  const { tensors, metadata } = readSafetensors(bytes);
  const floats = /** @type {Parameters<typeof roundRows>[0]} */ (/** @type {unknown} */ (tensors));
  return writeSafetensors(roundRows(floats), { ...metadata, ...notes });
}

/** @param {Hl} hl @param {Uint8Array} bytes of the file */
export const openDemoModel = (hl, bytes) => hl.loadTransformer(bytes);
