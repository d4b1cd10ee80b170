// Saves data and pictures as files.

export function download(name: string, type: string, content: BlobPart | Uint8Array) {
  const url = URL.createObjectURL(new Blob([content as BlobPart], { type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export const pngOf = (canvas: HTMLCanvasElement): Promise<Blob> =>
  new Promise((resolve) => canvas.toBlob((blob) => resolve(blob as Blob), 'image/png'));
