// The name of the method that `using` calls at the end of a block.

/** Symbol.dispose, or a substitute in engines that do not have it yet. */
export const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for('Symbol.dispose') as any);
