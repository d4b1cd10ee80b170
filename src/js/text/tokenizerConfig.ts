// Applies tokenizer_config.json to a tokenizer.json, as fast tokenizers of transformers do: tokens that only the
// settings have, special tokens around a text, lower case, and the space before the first word. What a class ignores
// there is ignored here.

/** A parsed tokenizer.json, in which objects are Maps. */
export type File = Map<string, any>;
/** of tokenizer_config.json */
export type Settings = Record<string, any>;

const FLAGS = ['single_word', 'lstrip', 'rstrip', 'normalized', 'special'];
const SPECIALS = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

/** Classes whose special tokens around a text follow the settings, with defaults, by the beginning of their names. */
const AROUND: [names: RegExp, begin: string, end: string][] = [
  [/^(code_?)?llama|^(mistral|mixtral|phi3)$/, '<s>', '</s>'],
  [/^gemma/, '<bos>', '<eos>'],
  [/^cohere/, '<BOS_TOKEN>', '<|END_OF_TURN_TOKEN|>'],
];
/** Classes of tokenizers that set their BertNormalizer by the settings. */
const OF_BERT = /^(bert|distil_?bert|electra|mobile_?bert|mpnet|conv_?bert|squeeze_?bert|layout_?lm|funnel)$/;

/** Returns true if it changed the file. modelType: of config.json, for settings without tokenizer_class. */
export function applySettings(file: File, settings: Settings, modelType: unknown): boolean {
  const given = settings.tokenizer_class;
  const name = typeof given === 'string' ? given.replace(/Tokenizer(Fast)?$/, '') : modelType;
  const kind = String(name ?? '').toLowerCase();
  const changes = [addTokens(file, settings), setSpace(file, settings)];
  const around = AROUND.find(([names]) => names.test(kind));
  if (around) changes.push(setAround(file, settings, around[1], around[2]));
  if (OF_BERT.test(kind)) changes.push(setBert(file, settings, kind));
  return changes.includes(true);
}

/** Returns the text of a token, which may be an object with flags. */
function contentOf(token: any): string | undefined {
  const content = token?.content ?? token;
  return typeof content === 'string' && content !== '' ? content : undefined;
}

function setFields(object: File, fields: Record<string, unknown>) {
  let changed = false;
  for (const [name, value] of Object.entries(fields)) {
    changed ||= object.get(name) !== value;
    object.set(name, value);
  }
  return changed;
}

/** Returns the ids of the vocabulary by token. */
function vocabularyOf(file: File): Map<string, number> {
  const vocab = file.get('model')?.get?.('vocab');
  if (vocab instanceof Map) return vocab;
  return new Map(Array.isArray(vocab) ? vocab.map((entry, id) => [entry?.[0], id]) : []);
}

/** Returns the added tokens, undefined if they have a wrong form. */
function addedOf(file: File): File[] | undefined {
  const list = file.get('added_tokens') ?? [];
  return Array.isArray(list) && list.every((token) => token instanceof Map) ? list : undefined;
}

/** Adds the tokens of added_tokens_decoder, and special tokens of the vocabulary that are not cut out of a text yet. */
function addTokens(file: File, settings: Settings) {
  const more = Array.isArray(settings.additional_special_tokens) ? settings.additional_special_tokens : [];
  const specials = new Map([...SPECIALS.map((name) => settings[name]), ...more].map((one) => [contentOf(one), one]));
  const given = typeof settings.added_tokens_decoder === 'object' ? settings.added_tokens_decoder : {};
  const decoder = Object.entries<Settings>((given ?? {}) as Record<string, Settings>).sort(
    ([a], [b]) => Number(a) - Number(b),
  );
  const list = addedOf(file);
  if (!list) return false;
  const known: Map<unknown, File> = new Map(list.map((token) => [token.get('content'), token]));
  const vocabulary = vocabularyOf(file);
  let changed = false;
  const add = (content: string, flags: Settings) => {
    const id = known.get(content)?.get('id') ?? vocabulary.get(content) ?? nextId(known, vocabulary);
    const token = known.get(content) ?? new Map();
    if (!known.has(content)) list.push(token);
    known.set(content, token);
    changed = setFields(token, { id, content, ...flags }) || changed;
  };
  for (const [, token] of decoder) {
    const content = contentOf(token);
    if (content !== undefined) add(content, flagsOf(token, token.special === true || specials.has(content)));
  }
  for (const [content, token] of specials)
    if (content !== undefined && !known.has(content) && vocabulary.has(content)) add(content, flagsOf(token, true));
  if (changed) file.set('added_tokens', list);
  return changed;
}

function flagsOf(token: any, special: boolean) {
  const flags = Object.fromEntries(FLAGS.map((name) => [name, token?.[name] === true]));
  return { ...flags, special, normalized: token?.normalized ?? !special };
}

/** Returns the id of a token that the file does not have. */
function nextId(known: Map<unknown, File>, vocabulary: Map<string, number>) {
  let last = -1;
  for (const token of known.values()) last = Math.max(last, Number(token.get('id')));
  return Math.max(last + 1, vocabulary.size);
}

/** Sets the space before the first word, which these tokenizers do not add by default. */
function setSpace(file: File, { add_prefix_space: given }: Settings) {
  const step = file.get('pre_tokenizer');
  if (!(step instanceof Map) || step.get('type') !== 'ByteLevel' || !step.has('add_prefix_space')) return false;
  return setFields(step, { add_prefix_space: given === true });
}

/** Makes the post-processor that adds a begin token (by default) and an end token (if the settings say so). */
function setAround(file: File, settings: Settings, begin: string, end: string) {
  const vocabulary = vocabularyOf(file);
  const added = new Map(addedOf(file)?.map((token) => [token.get('content'), token.get('id')]));
  const idOf = (token: string) => added.get(token) ?? vocabulary.get(token);
  const used = [
    settings.add_bos_token !== false && (contentOf(settings.bos_token) ?? begin),
    settings.add_eos_token === true && (contentOf(settings.eos_token) ?? end),
  ];
  if (used.some((token) => token !== false && idOf(token) === undefined)) return false;
  const piece = (kind: string, id: string, type: number) =>
    new Map([[kind, new Map(Object.entries({ id, type_id: type }))]]);
  const around = (name: string, type: number) => [
    ...(used[0] ? [piece('SpecialToken', used[0], type)] : []),
    piece('Sequence', name, type),
    ...(used[1] ? [piece('SpecialToken', used[1], type)] : []),
  ];
  const specials = used.flatMap((id) => (id ? [[id, { id, ids: [idOf(id)], tokens: [id] }]] : []));
  const made = new Map(
    Object.entries({
      type: 'TemplateProcessing',
      single: around('A', 0),
      pair: [...around('A', 0), ...around('B', 1)],
      special_tokens: new Map(specials.map(([id, one]) => [id, new Map(Object.entries(one))])),
    }),
  );
  if (JSON.stringify(plain(file.get('post_processor'))) === JSON.stringify(plain(made))) return false;
  file.set('post_processor', made);
  return true;
}

function setBert(file: File, settings: Settings, kind: string) {
  const step = file.get('normalizer');
  if (!(step instanceof Map) || step.get('type') !== 'BertNormalizer') return false;
  const { do_lower_case: lower = true, strip_accents: strip = null, tokenize_chinese_chars: chinese = true } = settings;
  const fields = { lowercase: lower, strip_accents: strip };
  return setFields(step, kind === 'mpnet' ? fields : { ...fields, handle_chinese_chars: chinese });
}

/** Returns a value with objects in place of Maps. */
export function plain(value: any): any {
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Map ? Object.fromEntries(Array.from(value, ([name, one]) => [name, plain(one)])) : value;
}
