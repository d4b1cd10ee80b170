// The entry headlight-attention/onnx: exports layers and models as ONNX files.

/** @module headlight-attention/onnx */

import { argumentError } from '../check/errors.js';
import { attentionToOnnx, layerToOnnx } from './layer.js';
import { writeModel } from './model.js';
import { CALLER } from './options.js';

/** @import { Transformer } from '../models/transformer.js' */
/** @import { MultiHeadAttention } from '../ops/multihead.js' */

/** @typedef {import('./graph.js').OnnxFiles} OnnxFiles */
/** @typedef {import('./layer.js').AttentionOnnxOptions} AttentionOnnxOptions */
/** @typedef {import('./layer.js').LayerOnnxOptions} LayerOnnxOptions */
/** @typedef {import('./model.js').ModelChoices} ModelChoices */
/** @typedef {import('./model.js').OnnxModelOptions} OnnxModelOptions */
/** @typedef {import('./options.js').FileOptions} FileOptions */
/** @typedef {import('./options.js').SightOptions} SightOptions */

/**
 * Exports a layer, a model or attention alone. Returns the files by name: model.onnx and, with external,
 * model.onnx.data. The sizes of batch and length are dynamic.
 * @overload
 * @param {MultiHeadAttention} what
 * @param {LayerOnnxOptions} [options]
 * @returns {OnnxFiles}
 */
/**
 * @overload
 * @param {Transformer} what
 * @param {OnnxModelOptions} [options]
 * @returns {OnnxFiles}
 */
/**
 * @overload
 * @param {AttentionOnnxOptions} what for attention alone, the options of hl.attention; for an option that is a tensor
 *   there, true makes it an input of the model
 * @param {FileOptions} [options]
 * @returns {OnnxFiles}
 */
/**
 * @param {any} what
 * @param {any} options
 * @returns {OnnxFiles}
 */
export function toOnnx(what, options = {}) {
  // Members are tested instead of instanceof, because the entries of the package are bundled separately.
  if (what?.parameters?.wq && typeof what.options?.numHeads === 'number') return layerToOnnx(what, options);
  if (typeof what?.generate === 'function') return writeModel(what, options);
  if (what && typeof what.numHeads === 'number' && typeof what.forward !== 'function')
    return attentionToOnnx({ ...what, ...options });
  throw argumentError(CALLER, 'what', what, 'a layer of hl.multiHeadAttention, a model, or the options of attention');
}
