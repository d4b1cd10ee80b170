// The method by which Node's console.log asks an object for the text to show.

export const INSPECT = Symbol.for('nodejs.util.inspect.custom');
