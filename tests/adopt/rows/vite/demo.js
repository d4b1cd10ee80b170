// Opens the demo model, whose files the bundler must find.

import { load } from 'headlight-attention';

const hl = await load();
const said = await hl.openModel('demo').then(
  (model) => ({ tokens: model.encode('the white whale').tokens.length, next: model.next('the white', 1).length }),
  ({ message }) => ({ message }),
);
document.body.dataset.said = JSON.stringify(said);
