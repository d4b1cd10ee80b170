// What the page remembers between visits. Where there is no storage, as for a page from disk, nothing is stored.

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // It is forgotten, then.
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
