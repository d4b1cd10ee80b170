// Recommended models of the Hub: small, public, and of different kinds.

import type { State } from '../../model/state.ts';
import type { texts } from './hub.en.ts';
/**
 * A recommended model. key: name of its text in the file of texts. bytes: size of its weights. view: state with which
 * it is first shown.
 */
export type Recommended = {
  id: string;
  key: keyof typeof texts.see;
  bytes: number;
  view?: Partial<State>;
};

const REPEATED = 'Once upon a time there was a whale. Once upon a time there was';

export const RECOMMENDED: Recommended[] = [
  { id: 'openai-community/gpt2', key: 'gpt2', bytes: 548e6, view: { text: REPEATED, layer: 5, head: 5 } },
  { id: 'EleutherAI/pythia-70m', key: 'pythia', bytes: 166e6, view: { text: REPEATED } },
  { id: 'google-bert/bert-base-uncased', key: 'bert', bytes: 440e6 },
  { id: 'sentence-transformers/all-MiniLM-L6-v2', key: 'minilm', bytes: 91e6 },
  { id: 'HuggingFaceTB/SmolLM2-135M', key: 'smollm', bytes: 269e6 },
  { id: 'Qwen/Qwen3-0.6B', key: 'qwen', bytes: 1503e6 },
  { id: 'google-t5/t5-small', key: 't5', bytes: 242e6 },
  { id: 'WinKawaks/vit-tiny-patch16-224', key: 'vit', bytes: 23e6 },
  { id: 'openai/whisper-tiny', key: 'whisper', bytes: 151e6 },
  { id: 'distilbert/distilgpt2', key: 'distilgpt2', bytes: 353e6 },
  {
    id: 'google-bert/bert-base-chinese',
    key: 'bertChinese',
    bytes: 412e6,
    view: { text: '今天天气很[MASK]，我们去公园散步。' },
  },
];

/** Maximum number of models that are shown while nothing is typed. */
const MAX_SHOWN = 6;

export function matching<T extends { id: string }>(models: readonly T[], typed: string) {
  const words = typed.trim().toLowerCase();
  return words === '' ? models.slice(0, MAX_SHOWN) : models.filter(({ id }) => id.toLowerCase().includes(words));
}
