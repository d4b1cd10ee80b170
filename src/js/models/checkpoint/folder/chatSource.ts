// Reads chat templates: chat_template.jinja, the field of tokenizer_config.json, or the metadata of a GGUF file.

import type { ChatSource } from '../../../text/chat/chatTemplate.ts';
import type { Folder } from '../files.ts';
import { readInner } from './innerFiles.ts';

const SPECIALS = ['bos_token', 'eos_token', 'unk_token', 'pad_token', 'sep_token', 'cls_token', 'mask_token'];

export async function readChatSource(folder: Folder): Promise<ChatSource | undefined> {
  const config = await readInner(folder, 'tokenizer_config.json');
  const file = await readInner(folder, 'chat_template.jinja', 'text');
  const templates = { ...templatesOf(config?.chat_template), ...(typeof file === 'string' && { default: file }) };
  if (Object.keys(templates).length === 0) return undefined;
  const specials: Record<string, string> = {};
  for (const name of SPECIALS) {
    const token = config?.[name]?.content ?? config?.[name];
    if (typeof token === 'string') specials[name] = token;
  }
  return { templates, specials };
}

/** Returns templates by name, given one template or a list of named templates. */
function templatesOf(given: unknown): Record<string, string> {
  if (typeof given === 'string') return { default: given };
  if (!Array.isArray(given)) return {};
  return Object.fromEntries(
    given.flatMap(({ name, template }) => (typeof template === 'string' ? [[String(name), template]] : [])),
  );
}

export function ggufChatSource(metadata: Readonly<Record<string, unknown>>): ChatSource | undefined {
  const templates: Record<string, string> = {};
  for (const [name, key] of [
    ['default', 'tokenizer.chat_template'],
    ['tool_use', 'tokenizer.chat_template.tool_use'],
  ])
    if (typeof metadata[key] === 'string') templates[name] = metadata[key] as string;
  if (Object.keys(templates).length === 0) return undefined;
  const tokens = (metadata['tokenizer.ggml.tokens'] ?? []) as ArrayLike<unknown>;
  const specials: Record<string, string> = {};
  for (const [name, key] of [
    ['bos_token', 'bos'],
    ['eos_token', 'eos'],
    ['unk_token', 'unknown'],
    ['pad_token', 'padding'],
  ]) {
    const token = tokens[Number(metadata[`tokenizer.ggml.${key}_token_id`] ?? -1)];
    if (typeof token === 'string') specials[name] = token;
  }
  return { templates, specials };
}
