// The language model that was trained on Moby-Dick: src/build/demo/pretrain.js makes its file.

import { readSafetensors, writeSafetensors } from '../../../src/js/io/formats.js';
import { roundRows } from '../../../src/js/io/roundedRows.js';

/** @import { Hl } from '../../store/types.js' */

/**
 * @param {Uint8Array} bytes what a transformer has saved
 * @param {Record<string, string>} notes how it was made
 * @returns {Uint8Array} the same with a byte for a weight
 */
export function shrinkWhale(bytes, notes) {
  const { tensors, metadata } = readSafetensors(bytes);
  return writeSafetensors(roundRows(/** @type {any} */ (tensors)), { ...metadata, ...notes });
}

/** @param {Hl} hl @param {Uint8Array} bytes of the file */
export const openWhale = (hl, bytes) => hl.loadTransformer(bytes);
