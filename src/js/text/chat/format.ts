// Formats values into texts: the operator % and the methods format() of Python.

import { type Budget, Fault } from './budget.ts';
import { Dict, integer, isFloat, isKind, nameOf, number, Undefined } from './values.ts';
import { represent, twoDigits, write, writeFloat } from './write.ts';

export type Spec = {
  fill: string;
  align: string;
  sign: string;
  alternate: boolean;
  width: number;
  comma: string;
  precision: number | undefined;
  type: string;
};

const DIRECTIVE = /%(?:\(([^)]*)\))?([-+ #0]*)(\d*)(?:\.(\d+))?([a-zA-Z%])/g;

/** given: a tuple of values, a dictionary, or one value */
export function formatPercent(budget: Budget, format: string, given: unknown) {
  const values = isKind(given, 'tuple') ? (given as any[]) : [given];
  let used = 0;
  const next = () => {
    if (used === values.length) throw new Fault('the format has more directives than there are values');
    return values[used++];
  };
  const text = budget.text(format).replace(DIRECTIVE, (_, name, flags, width, precision, type) => {
    if (type === '%') return '%';
    const value = name === undefined ? next() : valueNamed(given, name);
    const align = flags.includes('-') ? '<' : flags.includes('0') && !'srac'.includes(type) ? '=' : '>';
    const spec = {
      ...{ fill: align === '=' ? '0' : ' ', align, sign: flags.replace(/[^ +]/g, '').slice(-1) },
      ...{ alternate: flags.includes('#'), width: Number(width), comma: '', type },
      precision: precision && Number(precision),
    };
    if ('diu'.includes(type)) return pad(budget, writeNumber(Math.trunc(number(value)), { ...spec, type: 'd' }), spec);
    if ('sra'.includes(type) || (type === 'c' && typeof value === 'string')) {
      const written = type === 'r' || type === 'a' ? represent(budget, value) : write(budget, value);
      return pad(budget, written.slice(0, spec.precision), spec);
    }
    return pad(budget, writeNumber(value, spec), spec);
  });
  if (!(given instanceof Dict) && used < values.length) throw new Fault('the format has fewer directives than values');
  return text;
}

function valueNamed(given: unknown, name: string) {
  if (!(given instanceof Dict) || !given.has(name)) throw new Fault(`the format has no value for ${name}`);
  return given.get(name);
}

const REPLACED = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::([^{}]*))?\}|[{}]/g;
const SPEC = /^(?:(.)?([<>=^]))?([-+ ]?)(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?([a-zA-Z%]?)$/su;

export function formatBraces(
  budget: Budget,
  format: string,
  args: unknown[],
  named: Map<string, unknown>,
  fieldOf: (budget: Budget, value: unknown, key: unknown) => unknown,
) {
  let used = 0;
  return budget.text(format).replace(REPLACED, (all, path, conversion, spec = '') => {
    if (all === '{{' || all === '}}') return all[0];
    if (path === undefined) throw new Fault(`a single ${all} in the format`);
    const [first, ...others] = path.split(/[.[]/);
    const key = first === '' ? used++ : first;
    let value = /^\d*$/.test(first) ? args[Number(key)] : named.get(key);
    if (value === undefined) throw new Fault(`the format has no value for ${key}`);
    for (const part of others) {
      const name = part.replace(/\]$/, '');
      value = fieldOf(budget, value, /^\d+$/.test(name) ? Number(name) : name);
    }
    const shown = conversion === 'r' || conversion === 'a' ? represent(budget, value) : value;
    return formatValue(budget, conversion === 's' ? write(budget, shown) : shown, spec);
  });
}

/** spec: such as '>5.2f' */
function formatValue(budget: Budget, value: unknown, spec: string) {
  const found = SPEC.exec(spec);
  if (!found) throw new Fault(`the format ${JSON.stringify(spec.slice(0, 40))} is not supported`);
  const [, fill, align, sign, alternate, zero, width, comma, precision, type] = found;
  const isNumber = typeof value === 'number' || isFloat(value) || (typeof value === 'boolean' && type !== '');
  const read = {
    fill: fill ?? (zero ? '0' : ' '),
    align: align ?? (zero && isNumber ? '=' : isNumber ? '>' : '<'),
    ...{ sign, alternate: alternate !== '', width: Number(width), comma, type },
    precision: precision === undefined ? undefined : Number(precision),
  };
  if (isNumber) return pad(budget, writeNumber(value, read), read);
  if (type !== '' && type !== 's') throw new Fault(`the format ${type} does not take ${nameOf(value)}`);
  return pad(budget, write(budget, value).slice(0, read.precision), read);
}

function writeNumber(value: any, { sign, alternate, comma, precision, type }: Spec): string {
  const size = Math.abs(number(value));
  const upper = type !== type.toLowerCase();
  const bases = { x: [16, '0x'], o: [8, '0o'], b: [2, '0b'] } as Record<string, [number, string]>;
  const kind = type.toLowerCase();
  let digits;
  if (bases[kind]) {
    const [base, prefix] = bases[kind];
    digits = (alternate ? prefix : '') + Math.abs(integer(value)).toString(base);
  } else if (kind === 'c') return String.fromCodePoint(integer(value));
  else if (kind === 'd' || (kind === '' && !isFloat(value))) digits = String(Math.abs(integer(value)));
  else if (!Number.isFinite(size)) digits = writeFloat(size);
  else if (kind === 'f') digits = fixed(size, precision ?? 6);
  else if (kind === '%') digits = `${fixed(size * 100, precision ?? 6)}%`;
  else if (kind === 'e') digits = twoDigits(size.toExponential(precision ?? 6));
  else if (kind === 'g' || (kind === '' && precision !== undefined)) digits = general(size, precision ?? 6);
  else if (kind === '') digits = writeFloat(size);
  else throw new Fault(`the format ${type} is not supported`);
  if (comma) digits = digits.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, comma));
  const isNegative = number(value) < 0 || Object.is(number(value), -0);
  const begin = isNegative ? '-' : sign === '-' ? '' : sign;
  return begin + (upper ? digits.toUpperCase() : digits);
}

/** precision: number of significant digits */
function general(size: number, precision: number) {
  const digits = Math.max(precision, 1);
  const exponent = size === 0 ? 0 : Number(size.toExponential(digits - 1).split('e')[1]);
  if (exponent < -4 || exponent >= digits) return twoDigits(size.toExponential(digits - 1).replace(/\.?0+(?=e)/, ''));
  const written = size.toFixed(digits - 1 - exponent);
  return written.includes('.') ? written.replace(/\.?0+$/, '') : written;
}

/** Writes a number with digits after the point. As in Python, half goes to the even digit; toFixed rounds it up. */
export function fixed(size: number, digits: number) {
  const exact = size.toFixed(Math.min(digits + MORE, 100));
  const isHalf = digits + MORE <= 100 && HALF.test(exact);
  const even = isHalf && /[02468]\.?$/.test(exact.slice(0, -MORE));
  return even ? exact.slice(0, -MORE).replace(/\.$/, '') : size.toFixed(digits);
}
/** A number of digits after which a number that is not half between two others differs from half. */
const MORE = 30;
const HALF = new RegExp(`50{${MORE - 1}}$`);

function pad(budget: Budget, written: string, { fill, align, width }: Spec) {
  budget.spend(width);
  const missing = width - [...budget.text(written)].length;
  if (missing <= 0) return written;
  const left = align === '^' ? missing >> 1 : align === '<' ? 0 : missing;
  if (align !== '=') return fill.repeat(left) + written + fill.repeat(missing - left);
  const sign = /^[-+ ]?(?:0[xob])?/.exec(written)?.[0] ?? '';
  return sign + fill.repeat(missing) + written.slice(sign.length);
}

export function defined(value: unknown) {
  if (value instanceof Undefined) throw new Fault(`${value.name} is undefined`);
  return value;
}
