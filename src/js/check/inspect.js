// The name of the method that Node's console.log calls for the text of an object.

export const INSPECT = Symbol.for('nodejs.util.inspect.custom');
