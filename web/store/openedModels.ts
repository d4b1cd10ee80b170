// The list of the open models that are not in the menu.

import { signal } from '@preact/signals';
import { readOnly } from './readOnly.ts';

import type { OpenedModel } from './types.ts';

export function createOpenedModels() {
  const opened = signal([] as OpenedModel[]);
  return {
    opened: readOnly(opened),
    aboutOf: (name: string) => opened.value.find(({ about }) => about.name === name)?.about ?? null,
    add(model: OpenedModel) {
      opened.value = [...opened.value, model];
    },
    remove(name: string) {
      opened.value = opened.value.filter(({ about }) => about.name !== name);
    },
    clear() {
      opened.value = [];
    },
  };
}
