// biome-ignore-all lint/suspicious/noEmptyInterface: they merge with the library's interfaces, as types cannot
// Declares the browser types that the declarations of this module refer to. In a project without the library "dom" they
// are empty interfaces. In a project with it, each merges with the interface of that library and adds nothing.

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
