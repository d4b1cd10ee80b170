// Models of sound, in English.

export const sound = {
  title: (seconds: string, cut: boolean) =>
    `${cut ? 'The first' : 'A sound of'} ${seconds} s${cut ? ' of the sound' : ''}`,
  unseen: (seconds: string, share: string) =>
    `${seconds} s of silence follow, which are not shown: they get ${share} of this row.`,
  file: 'Your own sound…',
  record: 'record',
  stop: (seconds: number) => `stop after ${seconds} s`,
  cancel: 'cancel',
  asking: 'The browser asks whether this page may use the microphone.',
  recording: 'It stops by itself after 30 s.',
  refused: 'The page may not use the microphone. Allow it in the settings of the browser, or choose a sound file.',
  missing: 'No microphone was found. Choose a sound file.',
  local: 'Nothing is uploaded.',
  transcribe: 'transcribe',
  stopWriting: 'stop',
  spectrogram: (seconds: string) => `Spectrogram of the keys: ${seconds} s from left to right, low pitches below`,
  letters: 'Letters of the frame',
  classes: 'Classes of the frame',
  blank: 'none',
  space: 'space',
  text: 'Text',
  noText: 'no letters were heard',
};
