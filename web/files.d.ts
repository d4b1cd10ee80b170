// What a script of the page may import besides scripts, as the build makes it.

declare module '*.css' {
  const text: string;
  export default text;
}
declare module '*.safetensors' {
  const bytes: Uint8Array;
  export default bytes;
}
