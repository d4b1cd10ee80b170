// The entry headlight-attention/formats: reads and writes files of arrays, and prepares sound for models.

/** @module headlight-attention/formats */

export { readGguf } from './gguf.js';
export { readNpy, writeNpy } from './npy.js';
export { readNpz } from './npz.js';
export {
  readSafetensors,
  readSafetensorsHeader,
  readSafetensorsHeaderEnd,
  readSafetensorsTensor,
  writeSafetensors,
} from './safetensors.js';
export { logMel } from './sound/logMel.js';
export { resample } from './sound/resample.js';
export { readTorch } from './torch.js';

/** @typedef {import('./sound/logMel.js').LogMelOptions} LogMelOptions */
/** @typedef {import('./dtypes.js').DType} DType */
/** @typedef {import('./dtypes.js').KnownDType} KnownDType */
/** @typedef {import('./dtypes.js').StoredTensor} StoredTensor */
/** @typedef {import('./dtypes.js').WritableTensor} WritableTensor */
/** @typedef {import('./safetensors.js').TensorRange} TensorRange */
/** @typedef {import('./safetensors.js').SafetensorsHeader} SafetensorsHeader */
/** @typedef {import('./gguf.js').Gguf} Gguf */
/** @typedef {import('./gguf.js').AsyncGguf} AsyncGguf */
/** @typedef {import('./gguf.js').GgufTensor} GgufTensor */
/** @typedef {import('./gguf.js').AsyncGgufTensor} AsyncGgufTensor */
/** @typedef {import('./gguf.js').RangeReader} RangeReader */
/** @typedef {import('./ggufCursor.js').GgufValue} GgufValue */
/** @typedef {import('./ggufCursor.js').GgufList} GgufList */
