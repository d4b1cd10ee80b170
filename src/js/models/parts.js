// The parts of the module that load() fetches only if they are needed: layers, training and whole models. Without them,
// a program that uses only attention starts faster.

export { Gelu, makeActivation } from '../ops/activation.js';
export { AdditiveAttention } from '../ops/additive.js';
export { Embedding } from '../ops/embedding.js';
export { Linear } from '../ops/linear.js';
export { crossEntropy, meanSquaredError } from '../ops/loss.js';
export { Norm } from '../ops/norm.js';
export { Adam, clipGradients, Sgd } from '../ops/optimizer.js';
export { loadTransformer } from './loadTransformer.js';
export { Transformer } from './transformer.js';
