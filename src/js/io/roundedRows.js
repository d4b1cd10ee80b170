// Rounds matrices to int8 with one scale per row, x ≈ scale · integer, and converts them back. The scales of the tensor
// NAME are the tensor NAME.scale.

/** @typedef {{ data: Float32Array | Int8Array, shape: number[] }} Stored */

const SCALE = '.scale';

/**
 * Rounds the matrices among some tensors.
 * @param {Record<string, { data: Float32Array, shape: number[] }>} tensors
 * @returns {Record<string, Stored>} the rounded matrices with their scales, and the other tensors unchanged
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

/**
 * Returns true if roundRows has rounded some of the tensors.
 * @param {Record<string, any>} tensors with their data, or ranges of a file
 */
export const areRounded = (tensors) => Object.keys(tensors).some((name) => isScale(tensors, name));

/**
 * Returns true if a tensor holds the scales of another tensor's rows.
 * @param {Record<string, any>} tensors
 * @param {string} name
 */
function isScale(tensors, name) {
  const [scales, base] = [tensors[name], tensors[name.slice(0, -SCALE.length)]];
  if (!name.endsWith(SCALE) || !isOf(scales, 'F32', Float32Array) || !isOf(base, 'I8', Int8Array)) return false;
  return base.shape?.length === 2 && scales.shape?.length === 1 && scales.shape[0] === base.shape[0];
}

/** @param {any} tensor @param {string} dtype @param {typeof Int8Array | typeof Float32Array} array */
const isOf = (tensor, dtype, array) => (tensor?.dtype ? tensor.dtype === dtype : tensor?.data instanceof array);

/**
 * Converts rounded matrices back to floats.
 * @param {Record<string, any>} tensors
 * @returns {Record<string, { data: Float32Array, shape: number[] }>}
 */
export function widenRows(tensors) {
  /** @type {Record<string, { data: Float32Array, shape: number[] }>} */
  const wide = Object.create(null);
  for (const [name, tensor] of Object.entries(tensors)) {
    const scale = name + SCALE;
    if (scale in tensors && isScale(tensors, scale)) wide[name] = widen(tensor, tensors[scale].data);
    else if (!isScale(tensors, name)) wide[name] = tensor;
  }
  return wide;
}

/** @param {{ data: Int8Array, shape: readonly number[] }} tensor @param {Float32Array} scales */
function widen({ data, shape }, scales) {
  const floats = new Float32Array(data);
  const width = shape[1];
  for (let row = 0; row < scales.length; row++)
    for (let i = row * width; i < (row + 1) * width; i++) floats[i] *= scales[row];
  return { data: floats, shape: [...shape] };
}
