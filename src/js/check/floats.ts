// Converts floating-point numbers of 8 and 16 bits from and to float32.

/** finite: without infinities; NaN has all bits set */
export type FloatFormat = { exponent: number; fraction: number; finite?: boolean };

export const FLOATS: Record<'F16' | 'BF16' | 'F8_E4M3' | 'F8_E5M2', FloatFormat> = {
  F16: { exponent: 5, fraction: 10 },
  BF16: { exponent: 8, fraction: 7 },
  F8_E4M3: { exponent: 4, fraction: 3, finite: true },
  F8_E5M2: { exponent: 5, fraction: 2 },
};

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
const double = new Float64Array(1);
/** The bits of `double`: the lower half, then the upper half. */
const words = new Uint32Array(double.buffer);

const tables: Map<FloatFormat, Uint32Array> = new Map();

/** Converts to float32 without loss. NaN keeps its payload. */
export function decodeFloats(raw: Uint8Array | Uint16Array, format: FloatFormat) {
  const table = tables.get(format) ?? makeTable(format);
  const wide = new Uint32Array(raw.length);
  for (let i = 0; i < raw.length; i++) wide[i] = table[raw[i]];
  return new Float32Array(wide.buffer);
}

function makeTable(format: FloatFormat) {
  const table = Uint32Array.from({ length: 2 ** (1 + format.exponent + format.fraction) }, (_, code) =>
    widen(code, format),
  );
  tables.set(format, table);
  return table;
}

function widen(code: number, { exponent: E, fraction: F, finite }: FloatFormat) {
  const sign = code >> (E + F);
  const exponent = (code >> F) & (2 ** E - 1);
  const fraction = code & (2 ** F - 1);
  const bias = 2 ** (E - 1) - 1;
  const special = exponent === 2 ** E - 1 && (!finite || fraction === 2 ** F - 1);
  if (special) return ((sign << 31) | 0x7f800000 | (fraction << (23 - F))) >>> 0;
  const size = exponent === 0 ? fraction * 2 ** (1 - bias - F) : (2 ** F + fraction) * 2 ** (exponent - bias - F);
  float[0] = sign ? -size : size;
  return bits[0];
}

/** Rounds to nearest, ties to even. Numbers above the range become infinity, or NaN in formats without infinity. */
export function encodeFloats(data: ArrayLike<number>, format: FloatFormat, out: Uint8Array | Uint16Array) {
  const { exponent: E, fraction: F, finite } = format;
  const wide = data instanceof Float32Array ? new Uint32Array(data.buffer, data.byteOffset, data.length) : null;
  const [signBit, one, minExponent] = [2 ** (E + F), 2 ** F, 2 - 2 ** (E - 1)];
  const overflow = finite ? signBit - 1 : (2 ** E - 1) * one;
  for (let i = 0; i < out.length; i++) {
    const x = data[i];
    if (Number.isNaN(x)) {
      out[i] = narrowNaN(wide ? wide[i] : 0x7fc00000, format);
      continue;
    }
    double[0] = x;
    const sign = words[1] >>> 31 ? signBit : 0;
    const exponent = Math.max(((words[1] >>> 20) & 0x7ff) - 1023, minExponent);
    // A fraction that rounds up to the next power of two carries into the exponent, which is the correct result.
    const code = (exponent - minExponent) * one + roundToEven(Math.abs(x) * powerOfTwo(F - exponent));
    out[i] = sign + Math.min(code, overflow);
  }
}

/** exponent: from −1022 to 1023 */
function powerOfTwo(exponent: number) {
  words[0] = 0;
  words[1] = (exponent + 1023) << 20;
  return double[0];
}

/** Ties to even, for x from 0 to 2 ** 52: the sum with 2⁵² is rounded, because such doubles have no fraction bits. */
const roundToEven = (x: number) => x + 2 ** 52 - 2 ** 52;

/** Narrows a NaN to the upper bits of its payload. wide: bits of float32. */
function narrowNaN(wide: number, { exponent: E, fraction: F, finite }: FloatFormat) {
  const sign = (wide >>> 31) * 2 ** (E + F);
  const ones = 2 ** F - 1;
  const fraction = (wide >> (23 - F)) & ones;
  return sign + (2 ** E - 1) * 2 ** F + (finite ? ones : fraction || 2 ** (F - 1));
}
