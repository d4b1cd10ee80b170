// Replaces the binary for relaxed SIMD in a build that has none.
export default undefined;
