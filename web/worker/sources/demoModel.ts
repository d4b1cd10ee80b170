// Writes and opens the file of the demo model, a language model that was trained on Moby-Dick by
// src/build/demo/pretrain.ts.

import { roundRows } from '../../../src/js/io/roundedRows.ts';
import { readSafetensors, writeSafetensors } from '../../../src/js/io/safetensors.ts';

import type { Hl } from '../../model/types.ts';

/**
 * @param bytes a file written by transformer.save
 * @param notes metadata about the training
 * @returns a file of the same model in which each weight has one byte
 */
export function shrinkDemoModel(bytes: Uint8Array, notes: Record<string, string>): Uint8Array {
  const { tensors, metadata } = readSafetensors(bytes);
  const floats = tensors as unknown as Parameters<typeof roundRows>[0];
  return writeSafetensors(roundRows(floats), { ...metadata, ...notes });
}

/** @param bytes of the file */
export const openDemoModel = (hl: Hl, bytes: Uint8Array) => hl.loadTransformer(bytes);
