// Defaults and output heads of decoders.

import type { TransformerOptions } from '../options.ts';
import { ALL_BIASES, type Config, expectField, type Family, type HasTensor, type TensorSource } from './common.ts';
import { countClasses, isFor } from './heads.ts';

/**
 * Returns a function that reads the options of a decoder. A field that config.json leaves out has its default value,
 * but a field that is null does not.
 * @param defaults default values of Hugging Face, by model_type
 */
export const decoder =
  (options: Family['options'], defaults: Record<string, Config> = {}): Family['options'] =>
  (c, has) => {
    expectField(c, 'is_causal', true);
    expectField(c, 'use_bidirectional_attention', false);
    return withCausalClassHead(options({ ...defaults[c.model_type], ...c }, has), c, has);
  };

/** Classification heads of causal models. */
const CAUSAL_CLASS_HEADS = ['score', 'classifier', 'qa_outputs'];

/** Returns the source of a causal model's head, which predicts tokens or classifies. */
export const causalHead = (lmHead: string): TensorSource => ({
  from: lmHead,
  also: CAUSAL_CLASS_HEADS.map((name) => `/${name}`),
});

/** Returns 'none' if the file contains only the base model, or a classification head. */
export function lmHeadKind(has: HasTensor, tied: boolean, lmHead = '/lm_head') {
  const other = CAUSAL_CLASS_HEADS.some((name) => has(`/${name}.weight`));
  return ((tied && !other) || has(`${lmHead}.weight`) ? 'logits' : 'none') as 'logits' | 'none';
}

/**
 * Adds the classification head of a causal model, if the file has one. `score` without a bias reads the last token that
 * is not padding; all others read every token.
 */
function withCausalClassHead(options: TransformerOptions, c: Config, has: HasTensor): TransformerOptions {
  const name = CAUSAL_CLASS_HEADS.find((name) => has(`/${name}.weight`));
  if (options.head !== 'none' || !name) return options;
  const head = has(`/${name}.bias`);
  const { dModel, headWidth = dModel, bias = ALL_BIASES } = options;
  const lastToken: Partial<TransformerOptions> = {
    head: 'pooled',
    pool: 'last',
    ...(Number.isInteger(c.pad_token_id) && c.pad_token_id >= 0 && { poolSkip: c.pad_token_id }),
    ...(headWidth !== dModel && { pooler: 'linear', poolDim: headWidth }),
  };
  const everyToken = name !== 'score' || head || isFor(c, 'TokenClassification');
  return {
    ...options,
    ...((everyToken ? { head: 'logits' } : lastToken) as Partial<TransformerOptions>),
    classes: countClasses(c),
    tied: false,
    logitScale: 1,
    logitSoftcap: 0,
    bias: { ...(bias as object), head },
  };
}
