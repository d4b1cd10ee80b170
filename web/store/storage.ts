// Stores values of the page between visits. If the browser gives the page no storage, it stores nothing.

export function remember(name: string, value: string) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // There is no storage.
  }
}

export function recall(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}
