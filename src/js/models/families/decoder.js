// Defaults and output heads of decoders.

import { ALL_BIASES, expectField } from './common.js';
import { countClasses, isFor } from './heads.js';

/** @import { Config, Family, HasTensor, TensorSource } from './common.js' */
/** @import { TransformerOptions } from '../options.js' */

/**
 * Returns a function that reads the options of a decoder. A field that config.json leaves out has its default value,
 * but a field that is null does not.
 * @param {Family['options']} options
 * @param {Record<string, Config>} [defaults] default values of Hugging Face, by model_type
 * @returns {Family['options']}
 */
export const decoder =
  (options, defaults = {}) =>
  (c, has) => {
    expectField(c, 'is_causal', true);
    expectField(c, 'use_bidirectional_attention', false);
    return withCausalClassHead(options({ ...defaults[c.model_type], ...c }, has), c, has);
  };

/** Classification heads of causal models. */
const CAUSAL_CLASS_HEADS = ['score', 'classifier', 'qa_outputs'];

/**
 * Returns the source of a causal model's head, which predicts tokens or classifies.
 * @param {string} lmHead
 * @returns {TensorSource}
 */
export const causalHead = (lmHead) => ({ from: lmHead, also: CAUSAL_CLASS_HEADS.map((name) => `/${name}`) });

/**
 * Returns 'none' if the file contains only the base model, or a classification head.
 * @param {HasTensor} has
 * @param {boolean} tied
 * @param {string} [lmHead]
 */
export function lmHeadKind(has, tied, lmHead = '/lm_head') {
  const other = CAUSAL_CLASS_HEADS.some((name) => has(`/${name}.weight`));
  return /** @type {'logits' | 'none'} */ ((tied && !other) || has(`${lmHead}.weight`) ? 'logits' : 'none');
}

/**
 * Adds the classification head of a causal model, if the file has one. `score` without a bias reads the last token that
 * is not padding; all others read every token.
 * @param {TransformerOptions} options
 * @param {Config} c
 * @param {HasTensor} has
 * @returns {TransformerOptions}
 */
function withCausalClassHead(options, c, has) {
  const name = CAUSAL_CLASS_HEADS.find((name) => has(`/${name}.weight`));
  if (options.head !== 'none' || !name) return options;
  const head = has(`/${name}.bias`);
  const { dModel, headWidth = dModel, bias = ALL_BIASES } = options;
  /** @type {Partial<TransformerOptions>} */
  const lastToken = {
    head: 'pooled',
    pool: 'last',
    ...(Number.isInteger(c.pad_token_id) && c.pad_token_id >= 0 && { poolSkip: c.pad_token_id }),
    ...(headWidth !== dModel && { pooler: 'linear', poolDim: headWidth }),
  };
  const everyToken = name !== 'score' || head || isFor(c, 'TokenClassification');
  return {
    ...options,
    .../** @type {Partial<TransformerOptions>} */ (everyToken ? { head: 'logits' } : lastToken),
    classes: countClasses(c),
    tied: false,
    logitScale: 1,
    logitSoftcap: 0,
    bias: { .../** @type {object} */ (bias), head },
  };
}
