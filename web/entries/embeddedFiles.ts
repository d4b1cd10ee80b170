// Reads the files that are embedded in the one-file page: see src/build/onefile.ts. Each file is an element of the
// document, whose text is the deflated file in base64. Some files may be left out.

export const isFolded = (name: string) => document.getElementById(name) !== null;

export async function unfold(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const text = document.getElementById(name)?.textContent ?? '';
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const whole = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(whole).arrayBuffer());
}
