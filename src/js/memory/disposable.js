// What `using` calls at the end of a block.

/**
 * Symbol.dispose, or in engines that do not have it yet the symbol that stands in for it.
 * @type {typeof Symbol.dispose}
 */
export const DISPOSE = Symbol.dispose ?? /** @type {any} */ (Symbol.for('Symbol.dispose'));
