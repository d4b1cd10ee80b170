// Copies texts.

/** Returns true if the browser has copied the text. @param {string} text @returns {Promise<boolean>} */
export const copyText = async (text) =>
  (await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  )) ?? false;
