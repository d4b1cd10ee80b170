import { compute } from '../../compute.js';
import { Report } from './Report.jsx';

export default async function Page() {
  return <Report said={await compute()} />;
}
