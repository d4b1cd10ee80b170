// biome-ignore-all lint/suspicious/noEmptyInterface: they merge with the library's interfaces, as types cannot
// Browser types that the declarations of this module name. Without the library "dom" they are empty interfaces.

declare global {
  interface AbortSignal {}
  interface Blob {}
  interface File {}
  interface FileList {}
  interface FileSystemDirectoryHandle {}
  interface HTMLCanvasElement {}
  interface ImageBitmap {}
  interface ImageData {}
  interface OffscreenCanvas {}
  interface URL {}

  namespace WebAssembly {
    interface Memory {}
    interface Module {}
  }
}

export type {};
