declare module '*.wasm' {
  const bytes: Uint8Array;
  export default bytes;
}
declare module '*.py' {
  const text: string;
  export default text;
}
