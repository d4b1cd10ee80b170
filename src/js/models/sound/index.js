// Models that read samples of sound, such as wav2vec 2: convolutions before the blocks, one of which encodes positions.

export { embedSound } from './embedSound.js';
export { readSound } from './options.js';
export { soundLayers } from './parameters.js';
export { readSamples } from './samples.js';
