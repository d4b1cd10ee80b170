// Rounds matrices to int8 with one scale per row, x ≈ scale · integer, and back. The scales of NAME are the tensor
// NAME.scale.

export type Stored = { data: Float32Array | Int8Array; shape: number[] };

const SCALE = '.scale';

/** Rounds matrices, adds their scales, and leaves other tensors unchanged. */
export function roundRows(tensors: Record<string, { data: Float32Array; shape: number[] }>): Record<string, Stored> {
  const rounded: Record<string, Stored> = {};
  for (const [name, { data, shape }] of Object.entries(tensors)) {
    const [rows, width] = shape;
    if (shape.length !== 2) {
      rounded[name] = { data, shape };
      continue;
    }
    const [integers, scales] = [new Int8Array(rows * width), new Float32Array(rows)];
    for (let row = 0; row < rows; row++) {
      const [begin, end] = [row * width, (row + 1) * width];
      for (let i = begin; i < end; i++) scales[row] = Math.max(scales[row], Math.abs(data[i]) / 127);
      if (scales[row] > 0) for (let i = begin; i < end; i++) integers[i] = Math.round(data[i] / scales[row]);
    }
    rounded[name] = { data: integers, shape };
    rounded[name + SCALE] = { data: scales, shape: [rows] };
  }
  return rounded;
}

/** Returns true if roundRows has rounded some of the tensors. tensors: with their data, or ranges of a file. */
export const areRounded = (tensors: Record<string, any>) => Object.keys(tensors).some((name) => isScale(tensors, name));

/** Returns true if a tensor holds the scales of another tensor's rows. */
function isScale(tensors: Record<string, any>, name: string) {
  const [scales, base] = [tensors[name], tensors[name.slice(0, -SCALE.length)]];
  if (!name.endsWith(SCALE) || !isOf(scales, 'F32', Float32Array) || !isOf(base, 'I8', Int8Array)) return false;
  return base.shape?.length === 2 && scales.shape?.length === 1 && scales.shape[0] === base.shape[0];
}

const isOf = (tensor: any, dtype: string, array: typeof Int8Array | typeof Float32Array) =>
  tensor?.dtype ? tensor.dtype === dtype : tensor?.data instanceof array;

export function widenRows(tensors: Record<string, any>): Record<string, { data: Float32Array; shape: number[] }> {
  const wide: Record<string, { data: Float32Array; shape: number[] }> = Object.create(null);
  for (const [name, tensor] of Object.entries(tensors)) {
    const scale = name + SCALE;
    if (scale in tensors && isScale(tensors, scale)) wide[name] = widen(tensor, tensors[scale].data);
    else if (!isScale(tensors, name)) wide[name] = tensor;
  }
  return wide;
}

function widen({ data, shape }: { data: Int8Array; shape: readonly number[] }, scales: Float32Array) {
  const floats = new Float32Array(data);
  const width = shape[1];
  for (let row = 0; row < scales.length; row++)
    for (let i = row * width; i < (row + 1) * width; i++) floats[i] *= scales[row];
  return { data: floats, shape: [...shape] };
}
