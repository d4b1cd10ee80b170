import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import webpack from 'webpack';

const stats = await promisify(webpack)({
  mode: 'production',
  entry: './page.js',
  output: { path: fileURLToPath(new URL('built', import.meta.url)), publicPath: 'auto', filename: 'main.js' },
});
const { errors } = stats.toJson({ errors: true });
if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
