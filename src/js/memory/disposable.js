// The name of the method that `using` calls at the end of a block.

/**
 * Symbol.dispose, or a substitute in engines that do not have it yet.
 * @type {typeof Symbol.dispose}
 */
export const DISPOSE = Symbol.dispose ?? /** @type {any} */ (Symbol.for('Symbol.dispose'));
