// Adds the response headers that threads need to the pages that SvelteKit serves in development. Vite serves the
// scripts of the workers, with the headers in vite.config.js.

import { headers } from '../headers.js';

/** @type {import('@sveltejs/kit').Handle} */
export async function handle({ event, resolve }) {
  const response = await resolve(event);
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
