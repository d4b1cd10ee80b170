// The entry headlight-attention/onnx: exports layers and models as ONNX files.

/** @module headlight-attention/onnx */

import { argumentError } from '../check/errors.ts';
import type { Transformer } from '../models/transformer.ts';
import type { MultiHeadAttention } from '../ops/multihead.ts';
import { type AttentionOnnxOptions, attentionToOnnx, type LayerOnnxOptions, layerToOnnx } from './layer.ts';
import { type OnnxModelOptions, writeModel } from './model.ts';
import { CALLER, type FileOptions } from './options.ts';

export type { OnnxFiles } from './graph.ts';

import type { OnnxFiles } from './graph.ts';

export type { AttentionOnnxOptions, LayerOnnxOptions } from './layer.ts';
export type { ModelChoices, OnnxModelOptions } from './model.ts';
export type { FileOptions, SightOptions } from './options.ts';

/**
 * Exports a layer, a model or attention alone. Returns the files by name: model.onnx and, with external,
 * model.onnx.data. The sizes of batch and length are dynamic.
 */
export function toOnnx(what: MultiHeadAttention, options?: LayerOnnxOptions): OnnxFiles;
export function toOnnx(what: Transformer, options?: OnnxModelOptions): OnnxFiles;
/**
 * @param what for attention alone, the options of hl.attention; for an option that is a tensor
 * there, true makes it an input of the model
 */
export function toOnnx(what: AttentionOnnxOptions, options?: FileOptions): OnnxFiles;
export function toOnnx(what: any, options: any = {}): OnnxFiles {
  // Members are tested instead of instanceof, because the entries of the package are bundled separately.
  if (what?.parameters?.wq && typeof what.options?.numHeads === 'number') return layerToOnnx(what, options);
  if (typeof what?.generate === 'function') return writeModel(what, options);
  if (what && typeof what.numHeads === 'number' && typeof what.forward !== 'function')
    return attentionToOnnx({ ...what, ...options });
  throw argumentError(CALLER, 'what', what, 'a layer of hl.multiHeadAttention, a model, or the options of attention');
}
