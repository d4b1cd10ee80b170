// The pre-tokenizers for byte-level BPE by tokenizer.ggml.pre. GGUF does not define the names; they are llama.cpp's,
// and each refers to a published model.

export const GPT2 = [
  "'s|'t|'re|'ve|'m|'ll|'d",
  ' ?\\p{L}+',
  ' ?\\p{N}+',
  ' ?[^\\s\\p{L}\\p{N}]+',
  '\\s+(?!\\S)',
  '\\s+',
].join('|');
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const LINES = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

/** Returns the pattern of GPT-4 and later models. */
const words = (digits: string, contractions: string = `${CONTRACTIONS}|`) =>
  `${contractions}[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${LINES}`;

const [UPPER, LOWER] = ['[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]', '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]'];
/** Returns a pattern for words that begin at capital letters, as in GPT-4o. */
const capitals = (digits: string, contractions = '') =>
  [
    `[^\\r\\n\\p{L}\\p{N}]?${UPPER}*${LOWER}+${contractions}`,
    `[^\\r\\n\\p{L}\\p{N}]?${UPPER}+${LOWER}*${contractions}`,
    digits,
    ` ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*`,
    LINES,
  ].join('|');

/** Patterns for one digit, and for up to three digits. */
export const [DIGIT, DIGITS] = ['\\p{N}', '\\p{N}{1,3}'];
const BLOOM = ' ?[^(\\s|[.,!?…。，、।۔،])]+';
const CHINESE_AND_JAPANESE = '[一-龥\u3040-ゟ゠-ヿ]+';
const DEEPSEEK = [
  '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+',
  '[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+',
  ' ?[\\p{P}\\p{S}]+[\\r\\n]*',
  LINES,
].join('|');

/**
 * Each pattern splits the words of the previous one. whole: a word that is a token is not split; bos: default of
 * tokenizer.ggml.add_bos_token.
 */
export type PreTokenizer = { names: string[]; patterns: string[]; whole?: boolean; bos?: boolean };
const TABLE: PreTokenizer[] = [
  { names: ['default'], patterns: ['[\\p{P}\\$\\+<=>\\^~\\|]+', GPT2, '\\p{N}+', '[0-9][0-9][0-9]'] },
  {
    names: [
      ...['gpt-2', 'phi-2', 'roberta-bpe', 'modern-bert', 'mpt', 'olmo', 'gpt-neox', 'jais', 'trillion', 'gigachat'],
      ...['jina-es', 'jina-de', 'jina-v1-en', 'jina-v2-es', 'jina-v2-de', 'jina-v2-code', 'a.x-4.0', 'mellum'],
      ...['exaone4', 'granite-docling'],
    ],
    patterns: [GPT2],
  },
  {
    names: ['starcoder', 'refact', 'command-r', 'smollm', 'codeshell', 'exaone', 'minerva-7b', 'mellum2'],
    patterns: [DIGIT, GPT2],
  },
  {
    names: [
      ...['llama-bpe', 'llama3', 'llama-v3', 'falcon3', 'falcon-h1', 'pixtral', 'midm-2.0', 'lfm2', 'jina-v5-nano'],
    ],
    patterns: [words(DIGITS)],
    whole: true,
    bos: true,
  },
  { names: ['dbrx', 'smaug-bpe', 'chatglm-bpe', 'glm4'], patterns: [words(DIGITS)] },
  {
    names: [
      ...['qwen2', 'deepseek-r1-qwen', 'stablelm2', 'megrez', 'hunyuan', 'solar-open', 'kormo', 'f2llmv2', 'grok-2'],
    ],
    patterns: [words(DIGIT)],
  },
  {
    names: ['qwen35'],
    patterns: [
      `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|${LINES}`,
    ],
  },
  { names: ['tekken'], patterns: [capitals(DIGIT)], whole: true, bos: true },
  { names: ['gpt-4o', 'llama4', 'kanana2', 'minimax-m2'], patterns: [capitals(DIGITS, `${CONTRACTIONS}?`)] },
  { names: ['bloom', 'gpt3-finnish', 'poro-chat'], patterns: [BLOOM] },
  { names: ['viking'], patterns: [BLOOM, DIGIT] },
  { names: ['falcon'], patterns: ['[\\p{P}\\$\\+<=>\\^~\\|`]+', GPT2, '[0-9][0-9][0-9]'] },
  {
    names: ['deepseek-coder'],
    patterns: ['[\\r\\n]', '\\s?\\p{L}+', '\\s?\\p{P}+', '[一-龥ࠀ-一가-\ud7ff]+', DIGIT],
  },
  { names: ['deepseek-v3', 'hunyuan-dense'], patterns: [DIGITS, CHINESE_AND_JAPANESE, DEEPSEEK] },
];

export const PRE_TOKENIZERS: Map<string, PreTokenizer> = new Map(
  TABLE.flatMap((entry) => entry.names.map((name) => [name, entry])),
);

/** Returns patterns in a form for comparison, in which the characters of line ends are escaped. */
const textOf = (patterns: readonly string[]) => patterns.join('\0').replaceAll('\r', '\\r').replaceAll('\n', '\\n');

/** Returns the first name of the pre-tokenizer with these patterns, or undefined if there is none. */
export const preTokenizerName = (patterns: readonly string[], whole: boolean) =>
  TABLE.find((entry) => (entry.whole ?? false) === whole && textOf(entry.patterns) === textOf(patterns))?.names[0];
