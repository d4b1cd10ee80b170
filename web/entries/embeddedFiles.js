// Reads the files that are embedded in the one-file page: see src/build/onefile.js. Each file is an element of the
// document, whose text is the deflated file in base64. Some files may be left out.

/** @param {string} name */
export const isFolded = (name) => document.getElementById(name) !== null;

/** @param {string} name @returns {Promise<Uint8Array>} */
export async function unfold(name) {
  const text = document.getElementById(name)?.textContent ?? '';
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const whole = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(whole).arrayBuffer());
}
