// Texts of the words that the model has written, in English.

export const texts = {
  title: 'The words that it wrote',
  about: 'While it wrote this, token by token:',
  columns: ['wrote', 'chance', 'looked most at'],
  signs: 'Small numbers say which token it was.',
  goOn: 'Go on',
  stop: 'Stop',
  playBack: 'Play back from the beginning',
  save: 'Save these rows, CSV',
  csv: ['token', 'probability', 'looked most at', 'its place', 'weight'],
  play: 'Play',
  pause: 'Pause',
  writeOn: 'Write on',
  step: 'One token on',
  rows: 'Rows that are shown',
  yours: (n: number, all: number) => `yours, ${n} of ${all}`,
  written: (n: number, all: number) => `written, ${n} of ${all}`,
  notYet: '…',
};
