// Stores values of the page between visits. If the browser gives the page no storage, it stores nothing.

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
