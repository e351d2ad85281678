/** The browsable reference: one page that renders `/api/openapi.json` with nothing from elsewhere. Text goes in as text, never as markup. */
const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --paper: #f7f8fa; --card: #fff; --line: #dde2e9; --accent: #0b6bcb }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #98a4b3; --paper: #12161c; --card: #1a2029; --line: #2c3542; --accent: #6cb2ff } }
* { box-sizing: border-box } body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); display: grid; grid-template-columns: 15rem 1fr; min-height: 100vh }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; border-right: 1px solid var(--line); padding: 1rem } nav a { display: block; color: inherit; text-decoration: none; padding: .1rem 0 } nav a:hover { color: var(--accent) }
main { padding: 1rem 1.5rem 4rem; max-width: 64rem; width: 100% } h2 { margin: 2rem 0 .5rem; font-size: 1.15rem }
input { width: 100%; padding: .45rem .6rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); color: inherit; font: inherit }
details { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: .35rem 0 } summary { padding: .45rem .7rem; cursor: pointer; display: flex; gap: .7rem; align-items: baseline } summary span { color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.method { font: 600 .8rem ui-monospace, monospace; min-width: 4rem; color: var(--accent) } code, pre { font: .86em ui-monospace, monospace } .unbuilt { opacity: .55 }
.body { padding: .2rem .9rem .9rem; border-top: 1px solid var(--line) } pre { overflow: auto; background: var(--paper); padding: .7rem; border-radius: 6px } table { border-collapse: collapse; width: 100% } td { border-top: 1px solid var(--line); padding: .25rem .5rem .25rem 0; vertical-align: top } h4 { margin: .8rem 0 .2rem }
@media (max-width: 48rem) { body { display: block } nav { position: static; height: auto; max-height: 30vh } }
`;

const script = `
const make = (tag, fields = {}, ...children) => { const node = Object.assign(document.createElement(tag), fields); node.append(...children); return node };
const typeOf = (schema) => schema?.enum ? schema.enum.join(' | ') : schema?.anyOf ? schema.anyOf.map(typeOf).join(' | ') : [schema?.type ?? 'any', schema?.format].flat().filter(Boolean).join(', ');
const boundsOf = (schema) => ['default', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'].filter((key) => schema?.[key] !== undefined).map((key) => key + ' ' + schema[key]).join(', ');
const detail = (operation) => {
  const body = make('div', { className: 'body' }, make('p', { textContent: operation.description ?? '' }));
  if (operation.parameters?.length) body.append(make('h4', { textContent: 'Parameters' }), make('table', {}, ...operation.parameters.map((one) => make('tr', {}, make('td', {}, make('code', { textContent: one.name })), make('td', { textContent: one.in + (one.required ? ', required' : '') }), make('td', { textContent: typeOf(one.schema) }), make('td', { textContent: [one.description, boundsOf(one.schema)].filter(Boolean).join(' · ') })))));
  const block = (title, content) => { const schema = Object.values(content ?? {})[0]?.schema; if (schema) body.append(make('h4', { textContent: title }), make('pre', { textContent: JSON.stringify(schema, null, 2) })) };
  block('Request body', operation.requestBody?.content);
  block('200', operation.responses?.['200']?.content);
  return body;
};
const show = (document_) => {
  const groups = new Map(document_.tags.map(({ name }) => [name, []]));
  for (const [path, item] of Object.entries(document_.paths)) for (const [method, operation] of Object.entries(item)) groups.get(operation.tags[0]).push({ path, method, operation });
  for (const [name, list] of groups) {
    const section = make('section', { id: name }, make('h2', { textContent: name }));
    for (const { path, method, operation } of list) {
      const unbuilt = operation['x-oiq-built'] === false;
      const row = make('details', { className: unbuilt ? 'unbuilt' : '' }, make('summary', {}, make('b', { className: 'method', textContent: method.toUpperCase() }), make('code', { textContent: path }), make('span', { textContent: operation.summary + (unbuilt ? ' (not built yet)' : '') })));
      row.dataset.text = (method + ' ' + path + ' ' + operation.summary).toLowerCase();
      row.addEventListener('toggle', () => { if (row.open && row.childElementCount === 1) row.append(detail(operation)) });
      section.append(row);
    }
    list_.append(section); nav_.append(make('a', { href: '#' + name, textContent: name + ' (' + list.length + ')' }));
  }
  count_.textContent = document_.info.title + ' ' + document_.info.version;
};
const list_ = document.querySelector('#list'), nav_ = document.querySelector('#groups'), count_ = document.querySelector('#title');
document.querySelector('#find').addEventListener('input', ({ target }) => {
  const words = target.value.toLowerCase().split(/\\s+/);
  for (const row of document.querySelectorAll('details')) row.hidden = !words.every((word) => row.dataset.text.includes(word));
  for (const section of document.querySelectorAll('section')) section.hidden = ![...section.querySelectorAll('details')].some((row) => !row.hidden);
});
fetch('/api/openapi.json').then((answer) => answer.json()).then(show, (error) => { count_.textContent = 'The document could not be read: ' + error.message });
`;

export const referencePage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>API reference · OIQ</title><style>${style}</style></head><body><nav><b>Groups</b><div id="groups"></div></nav><main><h1 id="title">API reference</h1><input id="find" type="search" placeholder="Find an operation" aria-label="Find an operation" autofocus><div id="list"></div></main><script>${script}</script></body></html>\n`;
