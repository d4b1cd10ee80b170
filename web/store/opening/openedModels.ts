// The list of the open models that are not in the menu.

import { signal } from '@preact/signals';
import type { OpenedModel } from '../../model/types.ts';
import { readOnly } from '../readOnly.ts';

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
