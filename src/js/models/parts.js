// What load() fetches beside attention: layers, training and whole models. A file of its own, so that who imports the
// module for attention alone does not parse it first.

export { Gelu, makeActivation } from '../ops/activation.js';
export { AdditiveAttention } from '../ops/additive.js';
export { Embedding } from '../ops/embedding.js';
export { Linear } from '../ops/linear.js';
export { crossEntropy, meanSquaredError } from '../ops/loss.js';
export { Norm } from '../ops/norm.js';
export { Adam, clipGradients, Sgd } from '../ops/optimizer.js';
export { loadTransformer } from './loadTransformer.js';
export { Transformer } from './transformer.js';
