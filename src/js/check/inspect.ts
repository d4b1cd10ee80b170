// The name of the method that console.log of Node calls to get the text of an object.

export const INSPECT = Symbol.for('nodejs.util.inspect.custom');
