// Formats values like console.log in Node, so that a program prints the same lines in the page and in Node.

const LINE = 72;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const CUSTOM = Symbol.for('nodejs.util.inspect.custom');

const quote = (text) => {
  if (!text.includes("'")) return `'${text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'`;
  return JSON.stringify(text);
};

/** Joins the parts of an array or an object: in one line if they fit, as Node does. */
function join(prefix, [open, close], parts, depth) {
  if (parts.length === 0) return `${prefix}${open}${close}`;
  const line = `${prefix}${open} ${parts.join(', ')} ${close}`;
  if (line.length + depth <= LINE && !line.includes('\n')) return line;
  const indent = ' '.repeat(depth + 2);
  return `${prefix}${open}\n${parts.map((part) => indent + part).join(',\n')}\n${' '.repeat(depth)}${close}`;
}

function show(value, depth, level = 0) {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `[Function: ${value.name || 'anonymous'}]`;
  if (Object.is(value, -0)) return '-0';
  if (value === null || typeof value !== 'object') return String(value);
  if (typeof value[CUSTOM] === 'function') return String(value[CUSTOM](2 - level, {}));
  if (value instanceof Error) return String(value);
  const name = value.constructor?.name;
  const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value);
  if (level > 2) return isList ? '[Array]' : '[Object]';
  if (isList) {
    const parts = Array.from({ length: Math.min(value.length, 100) }, (_, i) => show(value[i], depth + 2, level + 1));
    if (value.length > 100) parts.push(`... ${value.length - 100} more items`);
    return join(Array.isArray(value) ? '' : `${name}(${value.length}) `, '[]', parts, depth);
  }
  const parts = Object.entries(value).map(
    ([key, item]) => `${IDENTIFIER.test(key) ? key : quote(key)}: ${show(item, depth + 2, level + 1)}`,
  );
  return join(name && name !== 'Object' ? `${name} ` : '', '{}', parts, depth);
}

/** @param {unknown[]} values the arguments of console.log */
export const inspect = (values) =>
  values.map((value) => (typeof value === 'string' ? value : show(value, 0))).join(' ');
