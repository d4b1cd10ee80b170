// The progress of what takes long.

/** Progress is shown for what takes longer than this many milliseconds. */
const PATIENCE = 100;

export function createProgress($) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let since = 0;

  return {
    /** Something begins. @param {() => void} [later] called if it has not ended after a while */
    start(later = () => {}) {
      since ||= performance.now();
      clearTimeout(timer);
      timer = setTimeout(later, PATIENCE);
    },
    /** @param {string} text @param {number} [share] of 1; unknown where it is left out */
    say(text, share) {
      if (performance.now() - since < PATIENCE) return;
      $('progress').hidden = false;
      $('progress-text').textContent = text;
      if (share === undefined) $('share-done').removeAttribute('value');
      else $('share-done').value = share;
    },
    end() {
      clearTimeout(timer);
      since = 0;
      $('progress').hidden = true;
    },
  };
}
