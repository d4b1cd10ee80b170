// The types of imports that are not scripts, as the build resolves them.

declare module '*.css' {
  const text: string;
  export default text;
}
declare module '*.safetensors' {
  const bytes: Uint8Array;
  export default bytes;
}
