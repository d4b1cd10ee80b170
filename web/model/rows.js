// Matrices in 8 bits, each row with a scale of its own: x ≈ scale · integer. The scales of NAME are NAME.scale.

/** @typedef {{ data: Float32Array | Int8Array, shape: number[] }} Stored */

const SCALE = '.scale';

/**
 * @param {Record<string, { data: Float32Array, shape: number[] }>} tensors
 * @returns {Record<string, Stored>} vectors stay as they are
 */
export function roundRows(tensors) {
  /** @type {Record<string, Stored>} */
  const rounded = {};
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

/** As floats again. @param {Record<string, { data: ArrayLike<number>, shape: readonly number[] }>} tensors */
export function widenRows(tensors) {
  /** @type {Record<string, { data: Float32Array, shape: number[] }>} */
  const wide = {};
  for (const [name, { data, shape }] of Object.entries(tensors)) {
    if (name.endsWith(SCALE) && name.slice(0, -SCALE.length) in tensors) continue;
    const scales = tensors[name + SCALE]?.data;
    const floats = new Float32Array(data);
    const width = shape[1];
    for (let row = 0; row < (scales?.length ?? 0); row++) {
      const scale = scales[row];
      for (let i = row * width; i < (row + 1) * width; i++) floats[i] *= scale;
    }
    wide[name] = { data: floats, shape: [...shape] };
  }
  return wide;
}
