// Layers, training and whole models. load() fetches this file only when a program needs it, so that a program that uses
// only attention starts faster.

export { Gelu, makeActivation } from '../ops/activation.ts';
export { AdditiveAttention } from '../ops/additive.ts';
export { Embedding } from '../ops/embedding.ts';
export { Linear } from '../ops/linear.ts';
export { crossEntropy, meanSquaredError } from '../ops/loss.ts';
export { Norm } from '../ops/norm.ts';
export { Adam, clipGradients, Sgd } from '../ops/optimizer.ts';
export { loadTransformer } from './loadTransformer.ts';
export { Transformer } from './transformer.ts';
