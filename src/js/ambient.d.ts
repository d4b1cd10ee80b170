// biome-ignore-all lint/suspicious/noEmptyInterface: they merge with the interfaces of the library, types could not
// Names of browsers that the types mention. A project without the library "dom" has none of them: there they are empty,
// elsewhere these lines add nothing to them.

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

declare namespace WebAssembly {
  interface Memory {}
  interface Module {}
}
