// Light or dark, and the colours of the style for canvases.

const NAMES = {
  text: 'soft',
  ink: 'ink',
  query: 'query',
  key: 'key',
  grid: 'grid',
  hatch: 'hatch',
  line: 'line',
};

export function createTheme({ $, host, signal, onChange }) {
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const palettes = {};
  const name = () => host.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light');

  function readColours() {
    const probe = $('probe');
    return Object.fromEntries(
      Object.entries(NAMES).map(([colour, variable]) => {
        probe.style.color = `var(--${variable})`;
        return [colour, getComputedStyle(probe).color];
      }),
    );
  }

  prefersDark.addEventListener('change', onChange, { signal });
  $('theme').onclick = () => {
    host.dataset.theme = name() === 'dark' ? 'light' : 'dark';
    onChange();
  };
  return {
    name,
    colours() {
      palettes[name()] ??= readColours();
      return palettes[name()];
    },
  };
}
