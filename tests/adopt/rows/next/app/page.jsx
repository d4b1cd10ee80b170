import { Said } from './Said.jsx';

export default function Page() {
  return <Said />;
}
