import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import { headers } from './headers.js';

export default { plugins: [sveltekit({ adapter: adapter() })], server: { headers }, build: { target: 'es2022' } };
