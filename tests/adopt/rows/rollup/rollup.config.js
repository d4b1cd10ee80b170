import resolve from '@rollup/plugin-node-resolve';

export default {
  input: 'page.js',
  output: { dir: 'built', chunkFileNames: '[name]-[hash].js' },
  plugins: [resolve({ browser: true })],
};
