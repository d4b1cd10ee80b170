// Values that the page stores between visits. A page opened from disk may have no storage, and stores nothing then.

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
