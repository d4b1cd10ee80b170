// The texts around the steps of the story, by language.

import { panel as en } from './panel.en.js';
import { panel as zh } from './panel.zh.js';

export const TEXTS = { en, zh };
