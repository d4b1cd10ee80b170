// The residual stream of one token as a sum of parts.

/** The kind of a part, which is the name of its contributions in the result of attribution. */
export type Kind = 'embed' | 'heads' | 'cross' | 'mlps';
/** A term of the residual stream of one token. at: index among the terms of this kind; x: its vector (C). */
export type Part = { kind: Kind; at: number; x: Float64Array };
/** The residual stream of a token, split into its parts and a rest (C), which is the sum of all biases. */
export type Stream = { parts: Part[]; bias: Float64Array };

/**
 * Returns the stream minus its parts, which leaves the biases and the changes by edits.
 * @param whole (C)
 */
export const restOf = ({ parts }: Stream, whole: Float64Array) =>
  parts.reduce((rest, { x }) => rest.map((value, c) => value - x[c]), whole);

/** Returns a + b. */
export const added = (a: Stream, b: Stream): Stream => ({
  parts: [...a.parts, ...b.parts],
  bias: a.bias.map((x, i) => x + b.bias[i]),
});

/** Applies a linear function to all vectors of a stream. */
export const mapped = ({ parts, bias }: Stream, change: (x: Float64Array) => Float64Array): Stream => ({
  parts: parts.map((part) => ({ ...part, x: change(part.x) })),
  bias: change(bias),
});
