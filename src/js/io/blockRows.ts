// Decodes rows of weights as the core packs block types: scales of the groups, minimums if any, then codes, one byte
// each: value = scale · code + minimum.

/**
 * bits: 4 for codes without a sign, from which 8 is subtracted if there are no minimums; 8 for signed codes. length: of
 * a group. hasByteInputs: for 4 bits, products round their inputs to 8 bits instead of 16.
 */
export type BlockForm = { bits: 4 | 8; length: 16 | 32; hasMinimums: boolean; hasByteInputs?: boolean };

export const BLOCK_FORMS: Record<string, BlockForm> = {
  nibbles: { bits: 4, length: 32, hasMinimums: false },
  raisedNibbles: { bits: 4, length: 32, hasMinimums: true },
  bytes: { bits: 8, length: 32, hasMinimums: false },
  raisedBytes: { bits: 8, length: 32, hasMinimums: true },
  halves: { bits: 8, length: 16, hasMinimums: false },
  raisedHalves: { bits: 8, length: 16, hasMinimums: true },
};

export const blockRowBytes = ({ length, hasMinimums }: BlockForm, width: number) =>
  width + (width / length) * (hasMinimums ? 8 : 4);

/** Dequantizes whole rows. */
export function fromBlockRows(rows: Uint8Array, form: BlockForm, width: number) {
  const { bits, length, hasMinimums } = form;
  const rowBytes = blockRowBytes(form, width);
  const own = rows.byteOffset % 4 === 0 ? rows : rows.slice();
  const floats = new Float32Array(own.buffer, own.byteOffset, own.length / 4);
  const codes = bits === 8 ? new Int8Array(own.buffer, own.byteOffset, own.length) : own;
  const offset = bits === 4 && !hasMinimums ? 8 : 0;
  const out = new Float32Array((own.length / rowBytes) * width);
  const groups = width / length;
  for (let row = 0, to = 0; to < out.length; row++) {
    let from = (row + 1) * rowBytes - width;
    for (let group = (row * rowBytes) / 4, end = group + groups; group < end; group++) {
      // Adding −0 changes no value, not even −0.
      const [scale, minimum] = [floats[group], hasMinimums ? floats[group + groups] : -0];
      for (const last = to + length; to < last; to++, from++) out[to] = scale * (codes[from] - offset) + minimum;
    }
  }
  return out;
}
