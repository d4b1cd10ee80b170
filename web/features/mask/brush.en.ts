// Texts of the brush that paints a mask, in English.

export const brush = {
  lead: 'Mask by hand',
  hide: 'hide',
  show: 'show',
  hideAbout: 'Paint over cells: these keys are masked.',
  showAbout: 'Paint over masked cells to show them again.',
  tools: 'Brush',
  in: 'in',
  clear: 'Clear',
  done: 'Done',
  how: 'Paint in the picture. Arrow keys and space do it too.',
  onPhone: 'Paint in the picture with a finger.',
  unlinked: 'Too much is painted for a link: it is not in the address.',
  count: (n: number) => (n === 0 ? 'nothing is hidden' : n === 1 ? '1 cell is hidden' : `${n} cells are hidden`),
  hidden: (query: string, key: string) => `${query} no longer sees ${key}`,
  shown: (query: string, key: string) => `${query} sees ${key} again`,
};
