import { promisify } from 'node:util';
import webpack from 'webpack';

const stats = await promisify(webpack)({
  mode: 'production',
  entry: './page.js',
  output: { path: new URL('built', import.meta.url).pathname, publicPath: 'auto', filename: 'main.js' },
});
const { errors } = stats.toJson({ errors: true });
if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
