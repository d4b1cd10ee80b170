// Files and texts on their way out of the page.

/** @param {string} name @param {string} type @param {BlobPart | Uint8Array} content */
export function download(name, type, content) {
  const url = URL.createObjectURL(new Blob([/** @type {BlobPart} */ (content)], { type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Says whether the browser let it. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export const pngOf = (canvas) => new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
