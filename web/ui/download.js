// Saves data and pictures as files.

/** @param {string} name @param {string} type @param {BlobPart | Uint8Array} content */
export function download(name, type, content) {
  const url = URL.createObjectURL(new Blob([/** @type {BlobPart} */ (content)], { type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** @param {HTMLCanvasElement} canvas @returns {Promise<Blob>} */
export const pngOf = (canvas) =>
  new Promise((resolve) => canvas.toBlob((blob) => resolve(/** @type {Blob} */ (blob)), 'image/png'));
