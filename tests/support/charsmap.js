// Writes the normalizer of a SentencePiece file in base64: a double-array trie over the bytes of the keys, then the
// replacement texts.

/** @param {[from: string, to: string][]} replaced */
export function charsmap(replaced) {
  const encoder = new TextEncoder();
  let texts = '';
  const tree = { children: new Map(), value: -1 };
  for (const [from, to] of replaced) {
    let node = tree;
    for (const byte of encoder.encode(from)) {
      if (!node.children.has(byte)) node.children.set(byte, { children: new Map(), value: -1 });
      node = node.children.get(byte);
    }
    node.value = encoder.encode(texts).length;
    texts += `${to}\0`;
  }
  const units = new Map();
  const used = new Set([0]);
  const place = (node, at, label) => {
    const labels = [...(node.value >= 0 ? [0] : []), ...node.children.keys()];
    // The children of a node are at its offset XOR their bytes; the child of byte 0 contains its value.
    let offset = 1;
    while (labels.some((byte) => used.has(at ^ offset ^ byte) || (at ^ offset) === 0)) offset++;
    if (offset >= 2 ** 21) throw new Error('the trie is too large for its offsets');
    for (const byte of labels) used.add(at ^ offset ^ byte);
    units.set(at, (offset << 10) | (node.value >= 0 ? 1 << 8 : 0) | label);
    if (node.value >= 0) units.set(at ^ offset, (node.value | 0x80000000) >>> 0);
    for (const [byte, child] of node.children) place(child, at ^ offset ^ byte, byte);
  };
  place(tree, 0, 0);
  const length = Math.max(...used) + 256;
  const text = encoder.encode(texts);
  const bytes = Buffer.alloc(4 + 4 * length + text.length);
  bytes.writeUInt32LE(4 * length, 0);
  for (const [at, unit] of units) bytes.writeUInt32LE(unit >>> 0, 4 + 4 * at);
  bytes.set(text, 4 + 4 * length);
  return bytes.toString('base64');
}
