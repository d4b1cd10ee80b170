// Types of imports that are not scripts, in the form to which the build resolves them.

declare module '*.css' {
  const text: string;
  export default text;
}
declare module '*.safetensors' {
  const bytes: Uint8Array;
  export default bytes;
}
