// Imports of the page that are not scripts, in the form that the build gives them.

declare module '*.css' {
  const text: string;
  export default text;
}
declare module '*.safetensors' {
  const bytes: Uint8Array;
  export default bytes;
}
