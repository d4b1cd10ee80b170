// Writes and opens the file of the demo model, a language model that was trained on Moby-Dick by
// src/build/demo/pretrain.ts.

import { roundRows } from '../../../src/js/io/roundedRows.ts';
import { readSafetensors, writeSafetensors } from '../../../src/js/io/safetensors.ts';

import type { Hl } from '../../model/types.ts';

/** Returns a file of transformer.save with one byte per weight. `notes`: metadata about the training. */
export function shrinkDemoModel(bytes: Uint8Array, notes: Record<string, string>): Uint8Array {
  const { tensors, metadata } = readSafetensors(bytes);
  const floats = tensors as unknown as Parameters<typeof roundRows>[0];
  return writeSafetensors(roundRows(floats), { ...metadata, ...notes });
}

export const openDemoModel = (hl: Hl, bytes: Uint8Array) => hl.loadTransformer(bytes);
