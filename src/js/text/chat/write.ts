// Writes values of a chat template as texts, as str(), repr() and json.dumps() of Python.

import { type Budget, Fault } from './budget.ts';
import {
  Dict,
  Fields,
  Float,
  hash,
  isFloat,
  isKind,
  isSequence,
  limitDepth,
  nameOf,
  order,
  Undefined,
} from './values.ts';

/** Returns the text of a value in {{ … }}. */
export function write(budget: Budget, value: unknown): string {
  if (typeof value === 'string') return budget.text(value);
  return value instanceof Undefined ? '' : represent(budget, value);
}

/** Returns the text of a value as repr in Python. */
export function represent(budget: Budget, value: any, depth = 0): string {
  limitDepth(depth);
  budget.items(2);
  const inner = (item: unknown) => represent(budget, item, depth + 1);
  if (Number.isInteger(value)) return String(value);
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (isFloat(value)) return writeFloat(value.value ?? value);
  if (typeof value === 'string') return representText(budget, value);
  if (isKind(value, 'range')) return `range(${value.limits.join(', ')})`;
  if (isKind(value, 'view')) return `${value.name}([${value.map(inner).join(', ')}])`;
  if (isKind(value, 'tuple')) return `(${value.map(inner).join(', ')}${value.length === 1 ? ',' : ''})`;
  if (isKind(value, 'lazy')) return '<generator object>';
  if (value instanceof Undefined) return 'Undefined';
  if (Array.isArray(value)) return `[${value.map(inner).join(', ')}]`;
  if (value instanceof Dict)
    return `{${value
      .entries()
      .map(([key, item]) => `${inner(key)}: ${inner(item)}`)
      .join(', ')}}`;
  if (value instanceof Fields) return representFields(value, inner);
  return String(value);
}

const representFields = (value: Fields, inner: (item: unknown) => string) =>
  value.name === 'Namespace' ? `<Namespace ${inner(new Dict(value.fields))}>` : `<${value.name}>`;

export function writeFloat(value: number) {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  const size = Math.abs(value);
  if (size >= 1e16 || (size < 1e-4 && size > 0)) return twoDigits(value.toExponential());
  const digits = Object.is(value, -0) ? '-0' : String(value);
  return Number.isInteger(value) ? `${digits}.0` : digits;
}

/** Python writes at least two digits of an exponent. */
export const twoDigits = (written: string) => written.replace(/e([+-])(\d)$/, 'e$10$2');

const SHORT = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' } as Record<string, string>;

function representText(budget: Budget, value: string) {
  budget.spend(2 * value.length);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const inside = value.replace(/[\\'"]|(?! )[\p{C}\p{Z}]/gu, (char) => {
    if (char === '"' || char === "'") return char === quote ? `\\${char}` : char;
    const code = char.codePointAt(0) as number;
    const [letter, digits] = code < 256 ? ['x', 2] : code < 65536 ? ['u', 4] : ['U', 8];
    budget.items(4);
    return SHORT[char] ?? `\\${letter}${code.toString(16).padStart(Number(digits), '0')}`;
  });
  return quote + inside + quote;
}

/** How JSON is written: `item` and `colon` are the separators. */
export type JsonStyle = { ascii: boolean; indent: string | undefined; item: string; colon: string; sorts: boolean };

/** Returns JSON as json.dumps in Python. */
export function toJson(budget: Budget, value: any, style: JsonStyle, depth = 0): string {
  const { indent, item, colon, sorts } = style;
  limitDepth(depth);
  budget.items(1);
  const isDict = value instanceof Dict;
  if (!isDict && !(isSequence(value) && !isKind(value, 'range'))) return scalar(budget, value, style);
  let entries = isDict ? value.entries() : value;
  if (isDict && sorts) entries = [...entries].sort(([a], [b]) => order(budget, a, b));
  const parts = entries.map((entry: any) =>
    isDict
      ? key(budget, entry[0], style) + colon + toJson(budget, entry[1], style, depth + 1)
      : toJson(budget, entry, style, depth + 1),
  );
  const [open, close] = isDict ? '{}' : '[]';
  if (parts.length === 0) return open + close;
  if (indent === undefined) return open + parts.join(item) + close;
  budget.spend((parts.length + 1) * (indent.length * (depth + 1) + 1));
  const margin = indent.repeat(depth);
  const lines = parts.map((part: string) => margin + indent + part);
  return `${open}\n${lines.join(`${item}\n`)}\n${margin}${close}`;
}

function key(budget: Budget, value: unknown, style: JsonStyle) {
  if (typeof value === 'string') return scalar(budget, value, style);
  if (value === null || typeof hash(value) === 'number') return `"${scalar(budget, value, style)}"`;
  throw new Fault(`${nameOf(value)} is no key of JSON`);
}

function scalar(budget: Budget, value: any, { ascii }: JsonStyle) {
  if (typeof value === 'string') {
    budget.spend(2 * value.length);
    const written = JSON.stringify(value);
    if (!ascii) return written;
    return written.replace(/[^ -~]/g, (unit) => {
      budget.items(4);
      return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
  }
  if (value === null || typeof value === 'boolean') return String(value);
  if (value instanceof Float || typeof value === 'number') {
    const written = represent(budget, value);
    return written.replace('inf', 'Infinity').replace('nan', 'NaN');
  }
  throw new Fault(`${nameOf(value)} cannot be written as JSON`);
}
