// The entry headlight-attention/formats: reads and writes files of arrays, and prepares sound for models.

/** @module headlight-attention/formats */

export type { DType, KnownDType, StoredTensor, WritableTensor } from './dtypes.ts';
export type { AsyncGguf, AsyncGgufTensor, Gguf, GgufTensor, RangeReader } from './gguf.ts';
export { readGguf } from './gguf.ts';
export type { GgufList, GgufValue } from './ggufCursor.ts';
export { readNpy, writeNpy } from './npy.ts';
export { readNpz } from './npz.ts';
export type { SafetensorsHeader, TensorRange } from './safetensors.ts';
export {
  readSafetensors,
  readSafetensorsHeader,
  readSafetensorsHeaderEnd,
  readSafetensorsTensor,
  writeSafetensors,
} from './safetensors.ts';
export type { LogMelOptions } from './sound/logMel.ts';
export { logMel } from './sound/logMel.ts';
export { resample } from './sound/resample.ts';
export { readTorch } from './torch.ts';
