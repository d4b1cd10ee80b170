// Models of sound, in English.

export const sound = {
  title: (/** @type {string} */ seconds, /** @type {boolean} */ cut) =>
    `${cut ? 'The first' : 'A sound of'} ${seconds} s${cut ? ' of the sound' : ''}`,
  unseen: (/** @type {string} */ seconds, /** @type {string} */ share) =>
    `${seconds} s of silence follow, which are not shown: they get ${share} of this row.`,
  file: 'Your own sound…',
  record: 'record',
  stop: (/** @type {number} */ seconds) => `stop after ${seconds} s`,
  cancel: 'cancel',
  asking: 'The browser asks whether this page may use the microphone.',
  recording: 'It stops by itself after 30 s.',
  refused: 'The page may not use the microphone. Allow it in the settings of the browser, or choose a sound file.',
  missing: 'No microphone was found. Choose a sound file.',
  local: 'Nothing is uploaded.',
  transcribe: 'transcribe',
  stopWriting: 'stop',
  spectrogram: (/** @type {string} */ seconds) =>
    `Spectrogram of the keys: ${seconds} s from left to right, low pitches below`,
  letters: 'Letters of the frame',
  classes: 'Classes of the frame',
  blank: 'none',
  space: 'space',
  text: 'Text',
  noText: 'no letters were heard',
};
