// Models that read samples of sound, such as wav2vec 2: convolutions before the blocks, one of which encodes positions.

export { embedSound } from './embedSound.ts';
export { readSound } from './options.ts';
export { soundLayers } from './parameters.ts';
export { readSamples } from './samples.ts';
