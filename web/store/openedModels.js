// The list of the open models that are not in the menu.

import { signal } from '@preact/signals';
import { readOnly } from './readOnly.js';

/** @import { OpenedModel } from './types.js' */

export function createOpenedModels() {
  const opened = signal(/** @type {OpenedModel[]} */ ([]));
  return {
    opened: readOnly(opened),
    /** @param {string} name */
    aboutOf: (name) => opened.value.find(({ about }) => about.name === name)?.about ?? null,
    /** @param {OpenedModel} model */
    add(model) {
      opened.value = [...opened.value, model];
    },
    /** @param {string} name */
    remove(name) {
      opened.value = opened.value.filter(({ about }) => about.name !== name);
    },
    clear() {
      opened.value = [];
    },
  };
}
