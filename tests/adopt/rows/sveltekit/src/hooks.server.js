// Sets the headers that threads need in development. SvelteKit serves the page itself, and Vite serves the scripts of
// the workers.

import { headers } from '../headers.js';

/** @type {import('@sveltejs/kit').Handle} */
export async function handle({ event, resolve }) {
  const response = await resolve(event);
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
