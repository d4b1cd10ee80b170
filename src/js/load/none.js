// Replaces the relaxed binary in a build without one.
export default undefined;
