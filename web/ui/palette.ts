// The colours of the page. They are defined only here, for the style sheet and the canvases.

export type Theme = 'light' | 'dark';

/** ink, ink2 and ink3: text; hairline: lines; query, key, value and data: parts of attention; chosen: not for text */
export const PALETTE = {
  light: {
    bg: '#ffffff',
    ink: '#1a181e',
    ink2: '#5a5662',
    ink3: '#716c79',
    query: '#1f5bc8',
    key: '#c0242d',
    value: '#1a7440',
    data: '#7a2f86',
    chosen: '#d97706',
    hairline: '#dcd8e0',
  },
  dark: {
    bg: '#100f13',
    ink: '#eeebf2',
    ink2: '#b3aebb',
    ink3: '#928c9b',
    query: '#82b1ff',
    key: '#ff8f88',
    value: '#6fcf92',
    data: '#d98be0',
    chosen: '#f6a63a',
    hairline: '#35323b',
  },
};

export const customProperties = (theme: Theme) =>
  Object.entries(PALETTE[theme])
    .map(([name, colour]) => `--${name}: ${colour};`)
    .join(' ');
