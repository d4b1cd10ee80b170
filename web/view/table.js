// Tables of numbers.

export function cellOf(name, content, scope) {
  const cell = document.createElement(name);
  cell.append(content);
  if (scope) cell.scope = scope;
  return cell;
}

function rowOf(cells) {
  const row = document.createElement('tr');
  row.append(...cells);
  return row;
}

export function fillTable(table, caption, heads, rows) {
  const [title, head, body] = ['caption', 'thead', 'tbody'].map((name) => document.createElement(name));
  title.textContent = caption;
  head.append(rowOf(heads));
  body.append(...rows.map(rowOf));
  table.replaceChildren(title, head, body);
}
