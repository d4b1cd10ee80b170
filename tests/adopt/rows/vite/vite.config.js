const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default {
  server: { headers },
  preview: { headers },
  build: { target: 'es2022', rolldownOptions: { input: ['index.html', 'demo.html'] } },
};
