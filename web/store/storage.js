// Values that the page stores between visits. A page from disk may have no storage: then nothing is stored.

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // There is no storage.
  }
}

/** @param {string} name @returns {string | undefined} */
export function recall(name) {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}
