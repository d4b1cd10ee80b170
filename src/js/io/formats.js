// The entry headlight-attention/formats: reads and writes files of arrays.

/** @module headlight-attention/formats */

export { readNpy, writeNpy } from './npy.js';
export { readNpz } from './npz.js';
export {
  readSafetensors,
  readSafetensorsHeader,
  readSafetensorsHeaderEnd,
  readSafetensorsTensor,
  writeSafetensors,
} from './safetensors.js';
export { readTorch } from './torch.js';

/** @typedef {import('./dtypes.js').DType} DType */
/** @typedef {import('./dtypes.js').KnownDType} KnownDType */
/** @typedef {import('./dtypes.js').StoredTensor} StoredTensor */
/** @typedef {import('./dtypes.js').WritableTensor} WritableTensor */
/** @typedef {import('./safetensors.js').TensorRange} TensorRange */
/** @typedef {import('./safetensors.js').SafetensorsHeader} SafetensorsHeader */
