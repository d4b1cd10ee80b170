// Small transformers that together use every option, with their inputs.

import { uniformSource } from '../../src/js/ops/random.ts';

export const SMALL = { layers: 2, dModel: 8, numHeads: 2, vocab: 7, context: 6, mlp: 10, std: 0.7 };
const IDS = [
  [0, 3, 1, 4, 2],
  [2, 6, 0, 1, 5],
];
const TARGETS = [
  [3, 1, 4, -100, 6],
  [2, 0, 1, 3, 0],
];
const PICTURE = { size: 2, image: [4, 6], channels: 2 };

/** Options of models that together use every option of a transformer. */
export const FORMS = {
  'GPT-2': { positions: 'learned', tied: true },
  Llama: { positions: 'rotary', norm: 'rms', bias: false, activation: 'silu', gated: true, kvHeads: 1 },
  'Qwen 3': { positions: 'rotary', norm: 'rms', bias: { query: true, key: true, value: true }, queryKeyNorm: true },
  'Gemma 2': {
    positions: 'rotary',
    norm: 'rms',
    normPlace: 'both',
    activation: 'gelu-tanh',
    gated: true,
    softcap: 3,
    logitSoftcap: 4,
    window: [2, null],
    embedScale: 2,
    tied: true,
    bias: false,
  },
  'OLMo 2': { positions: 'rotary', norm: 'rms', normPlace: 'outputs', bias: false, queryKeyNorm: 'all', kvHeads: 1 },
  Granite: { positions: 'rotary', norm: 'rms', residualScale: 0.3, scale: 0.2, embedScale: 3, logitScale: 0.4 },
  SmolLM3: { positions: 'rotary', rotary: { layers: [false, true] }, norm: 'rms', bias: false },
  'GPT-NeoX': { positions: 'rotary', rotary: { width: 2 }, normPlace: 'parallel', activation: 'gelu' },
  'one norm for both': { normPlace: 'parallel', sharedNorm: true, positions: 'none' },
  BLOOM: { positions: 'alibi', embedNorm: true },
  'a narrow head': { embedDim: 6, headWidth: 5 },
  'norms without weights': { normScale: false, bias: false, embedNorm: true },
  'norms that replace the residual stream': { normPlace: 'stream', finalNorm: false },
  OPT: { positionOffset: 2, activation: 'relu', embedDim: 6, normPlace: 'after', tied: true },
  BERT: {
    causal: false,
    normPlace: 'after',
    embedNorm: true,
    tokenTypes: 2,
    headTransform: 'norm',
    headActivation: 'silu',
    tied: true,
    activation: 'gelu',
    bias: { query: true, key: true, value: true, out: true, mlp: true, head: true },
  },
  ModernBERT: {
    causal: false,
    positions: 'rotary',
    rotary: { localTheta: 100 },
    window: [null, 3],
    firstNorm: false,
    gated: true,
  },
  'ModernBERT for classes': {
    causal: false,
    head: 'pooled',
    pool: 'mean',
    classes: 3,
    headTransform: 'norm',
    headActivation: 'gelu',
    bias: { query: true, transform: false, norm: false, head: true },
  },
  'a decoder for classes': {
    ...{ head: 'pooled', pool: 'last', classes: 3, pooler: 'linear', poolDim: 5 },
    positions: 'rotary',
  },
  'factors of channels': { layerScale: true, positions: 'none' },
  'a scale for each layer': { scale: [0.5, 0.25] },
  CLIP: { activation: 'quick-gelu' },
  sinks: { sinks: true, positions: 'rotary', rotary: { pairing: 'neighbours' } },
  sinusoidal: { positions: 'sinusoidal', norm: 'none', mlp: 0, causal: false },
  buckets: { positions: 'buckets', buckets: { count: 6, distance: 4 }, norm: 'rms', bias: false, scale: 1 },
  DeBERTa: {
    ...{ disentangled: { distance: 6, buckets: 4 }, positions: 'none', causal: false, normPlace: 'after' },
    ...{ embedNorm: true, bias: { query: true, key: true, value: true, out: true } },
  },
  'DeBERTa 2': {
    ...{ disentangled: { distance: 6, convolution: { kernel: 3 } }, positions: 'none', causal: false },
    ...{ normPlace: 'after', embedNorm: true },
  },
  'one product with positions': { disentangled: { distance: 3, terms: ['key'], norm: false }, causal: false },
  ALBERT: {
    ...{ sharedBlocks: true, embedDim: 6, embedProject: 'sum', embedNorm: true, causal: false, normPlace: 'after' },
    ...{ headTransform: 'norm', tied: true },
  },
  'shared blocks': { sharedBlocks: true, layerScale: true, positions: 'none' },
  ESM: { tokenDropout: { token: 3, share: 0.12 }, causal: false },
  ELECTRA: {
    ...{ embedDim: 6, embedProject: 'sum', embedNorm: true, tokenTypes: 2, causal: false, normPlace: 'after' },
    ...{ head: 'logits', headTransform: 'plain', bias: { query: true, head: true } },
  },
  MPNet: { buckets: { count: 8, distance: 5 }, positionOffset: 1, causal: false, normPlace: 'after', embedNorm: true },
  'M2M-100': { positions: 'sinusoidal', sinusoids: 'inclusive', positionOffset: 2, padToken: 1 },
  'encoder and decoder': {
    positions: 'buckets',
    buckets: { count: 6, distance: 4 },
    logitScale: 0.5,
    tied: true,
    encoder: { ...SMALL, causal: false, positions: 'buckets', head: 'none', sharedEmbedding: true },
  },
  'patches, pooled': {
    input: 'patches',
    patch: { ...PICTURE, classTokens: 2 },
    causal: false,
    context: 8,
    head: 'pooled',
    classes: 3,
    pooler: 'tanh',
    poolDim: 5,
    bias: { query: true, key: true, value: true, out: true, mlp: true, head: true },
  },
  DINOv2: {
    ...{ input: 'patches', patch: PICTURE, causal: false, context: 7, layerScale: true },
    ...{ head: 'pooled', classes: 3, pool: 'first-mean', bias: { query: true, mlp: true, head: true } },
  },
  'the first token and the mean': { causal: false, head: 'pooled', classes: 3, pool: 'first-mean', layerScale: true },
  SigLIP: {
    ...{ input: 'patches', patch: { ...PICTURE, classTokens: 0 }, causal: false, context: 6, pool: 'attention' },
    ...{ head: 'pooled', classes: 3, pooler: 'affine', bias: { query: true, key: true, mlp: true, head: true } },
  },
  'pooled by attention, with padding': {
    causal: false,
    head: 'pooled',
    classes: 3,
    pool: 'attention',
    kvHeads: 1,
    gated: true,
  },
  'the last row, even of padding': { causal: false, head: 'pooled', classes: 3, pool: 'last-row' },
  'patches without a bias': {
    ...{ input: 'patches', patch: { ...PICTURE, bias: false }, causal: false, context: 7, embedNorm: true },
    ...{ head: 'pooled', classes: 3 },
  },
  'speech and text': {
    encoder: { ...SMALL, context: 4, input: 'audio', channels: 3, causal: false, head: 'none', activation: 'gelu' },
    bias: { query: true, key: false, value: true, out: true, mlp: true },
  },
};

/** Returns an input and targets for a form. */
export function taskOf({ encoder, input, head }) {
  const random = uniformSource(5);
  const numbers = (shape) => ({
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => random() - 0.5),
    shape,
  });
  if (input === 'patches')
    return { given: { pixels: numbers([2, PICTURE.channels, ...PICTURE.image]) }, targets: [1, 2] };
  const kept = {
    ids: IDS,
    keep: [
      [1, 1, 1, 1, 0],
      [1, 1, 1, 1, 1],
    ],
  };
  if (encoder?.input === 'audio')
    return { given: { encoder: { features: numbers([2, 3, 8]) }, ids: IDS }, targets: TARGETS };
  if (encoder) return { given: { encoder: kept, ids: IDS }, targets: TARGETS };
  return { given: kept, targets: head === 'pooled' ? [1, 2] : TARGETS };
}
