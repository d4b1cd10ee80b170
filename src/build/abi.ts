// Generates the interface between JavaScript and the core from headlight.h. Standard input: the output of
// `emcc -fsyntax-only -Xclang -fdump-record-layouts-complete -Xclang -ast-dump=json`. Arguments: the folder for abi.js,
// abi.d.ts and abi.flags, then NAME=NUMBER for other constants of the build.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A node of Clang's syntax tree, with the fields that are read here. */
type Declaration = {
  kind: string;
  name: string;
  storageClass?: string;
  value?: string;
  type: { qualType: string };
  inner?: Declaration[];
};
/** Numbers by name: offsets of the fields of a struct in words, or values of an enum. */
type Numbers = Record<string, number>;

const [folder, ...decided] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
// Node 24 corrupts its memory if it decodes while it reads from a pipe.
const said = readFileSync(0).toString();
const begin = said.indexOf('\n{') + 1;
const { inner: declarations }: { inner: Declaration[] } = JSON.parse(said.slice(begin));

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
/** Returns the name of a parameter in JavaScript, where `in` is a reserved word. */
const label = (name: string) => (name === 'in' ? 'in_' : camel(name));
/** Returns the name of a struct or an enum in JavaScript, for example ATTENTION for hl_attention_args. */
const title = (name: string) => name.replace(/^hl_|_args(?=_|$)/g, '').toUpperCase();
const only = (kind: string) =>
  declarations.filter((node) => node.kind === kind && node.name?.startsWith('hl_') && node.storageClass !== 'static');
const fail = (what: string): never => {
  throw new Error(`headlight.h: ${what}`);
};

/** The input of the fingerprint: types and values as in C. */
const signature: string[] = [];

/**
 * Returns the offsets of the fields of each struct in words, { ATTENTION: { output: 0, … }, … }, and the sizes of the
 * structs.
 */
function readStructs(layouts: string) {
  const structs: Record<string, Numbers> = {};
  const sizes: Numbers = {};
  for (const [, name, fields, size] of layouts.matchAll(/0 \| struct (hl_\w+)\n([^]*?)\[sizeof=(\d+)/g)) {
    // An indentation of two spaces selects the struct's own fields, not those of nested structs.
    const own = [...fields.matchAll(/^ *(\d+) \| {3}(\S.*?)(\w+)$/gm)];
    structs[title(name)] = Object.fromEntries(
      own.map(([, byte, type, field]) => {
        if (!/\*|^(u?int32_t|float)\b|^(struct )?hl_/.test(type))
          fail(`${name}.${field} is not a 4-byte field: ${type}`);
        signature.push(name, byte, type.replace('struct ', ''), field);
        return [camel(field), Number(byte) / 4];
      }),
    );
    sizes[title(name)] = Number(size) / 4;
  }
  return { structs, sizes };
}

/** Returns the values of each enum: { STATUS: { OK: 0, … }, … }. */
function readEnums() {
  return Object.fromEntries(
    only('EnumDecl').map(({ name, inner = [] }) => {
      const prefix = inner.every((constant) => constant.name.startsWith(`HL_${title(name)}_`))
        ? `HL_${title(name)}_`
        : 'HL_';
      const values = inner.map((constant) => [constant.name.slice(prefix.length), Number(constant.inner?.[0].value)]);
      return [title(name), Object.fromEntries(values)];
    }),
  );
}

/** Returns the kind of a C type in JavaScript: Pointer, number or void. */
function kindOf(type: string, where: string) {
  if (type.endsWith('*')) return 'Pointer';
  if (/^(u?int32_t|float|double|hl_status)$/.test(type)) return 'number';
  return type === 'void' ? 'void' : fail(`${where}: a ${type} cannot be passed`);
}

/**
 * Returns the exported functions: name, parameters and result; entry: true if an argument struct is the only parameter.
 */
function readFunctions() {
  return only('FunctionDecl').map(({ name, type: { qualType }, inner = [] }) => {
    if (!inner.some(({ kind }) => kind === 'UsedAttr')) fail(`${name} is declared without HL_EXPORT`);
    signature.push(name, qualType);
    const parameters = inner.filter(({ kind }) => kind === 'ParmVarDecl');
    const result = qualType.slice(0, qualType.indexOf('(')).trim();
    return {
      name,
      parameters: parameters.map((node) => `${label(node.name)}: ${kindOf(node.type.qualType, name)}`),
      result: kindOf(result, name),
      entry:
        result === 'hl_status' && parameters.length === 1 && /^const hl_\w+_args \*$/.test(parameters[0].type.qualType),
    };
  });
}

const { structs, sizes } = readStructs(said.slice(0, begin));
const enums = readEnums();
const functions = readFunctions();
const build: Numbers = Object.fromEntries(
  decided.map((pair) => pair.split('=')).map(([name, value]) => [name, Number(value)]),
);
const contract = { ...structs, ...enums, WORDS: sizes };
const constants = { ...contract, BUILD: build };
const hash = createHash('sha256')
  .update(JSON.stringify([signature, contract]))
  .digest();
/** Never 0, because a core that was built without a fingerprint returns 0. */
const fingerprint = hash.readUInt32BE() || 1;
const [major, minor, patch] = version.split('.').map((part: string) => Number.parseInt(part, 10));

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
mkdirSync(folder, { recursive: true });
write(
  'abi.js',
  [
    ...Object.entries(constants).map(
      ([name, value]) => `export const ${name} = Object.freeze(${JSON.stringify(value)});`,
    ),
    `export const FINGERPRINT = ${fingerprint};`,
    `export const VERSION = ${JSON.stringify(version)};\n`,
  ].join('\n'),
);
const readonly = (value: object) => `Readonly<${JSON.stringify(value)}>`;
write(
  'abi.d.ts',
  [
    ...Object.entries(constants).map(([name, value]) => `export const ${name}: ${readonly(value)};`),
    'export const FINGERPRINT: number;',
    'export const VERSION: string;',
    '/** The functions of headlight.h. */',
    'export interface Functions<Pointer> {',
    ...functions.map(
      ({ name, parameters, result }) => `  ${name}: (...args: [${parameters.join(', ')}]) => ${result};`,
    ),
    '}',
    '/** The exports of the .wasm. */',
    'export interface CoreExports extends Functions<number> {',
    '  /** Absent if the memory is shared: then it is imported. */',
    '  memory: WebAssembly.Memory;',
    '  __stack_pointer: { value: number };',
    '}',
    '/** The functions whose only parameter is an argument struct. */',
    `export type Entry = ${functions
      .filter(({ entry }) => entry)
      .map(({ name }) => `'${name}'`)
      .join(' | ')};\n`,
  ].join('\n'),
);
write('abi.flags', `-DHL_ABI=${fingerprint}u -DHL_VERSION=${(major << 16) | (minor << 8) | patch}u\n`);
