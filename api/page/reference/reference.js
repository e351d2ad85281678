// Renders /api/openapi.json. Text goes in as text, never as markup. Calls are made with the session's cookie.
const make = (tag, fields = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), fields);
  node.append(...children.filter((child) => child !== undefined && child !== ''));
  return node;
};
const find = (id) => document.getElementById(id);
const text = (tag, textContent, className = '') => make(tag, { textContent, className });

// Schemas ------------------------------------------------------------------------------------------------------------
const bounds = ['default', 'minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern'];
const choicesOf = (schema) => schema?.anyOf ?? schema?.oneOf;
const typeOf = (schema) => {
  if (schema === undefined || schema === true) return 'any';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (choicesOf(schema)) return choicesOf(schema).map(typeOf).join(' | ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' & ');
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.type === 'array') return `array of ${typeOf(schema.items)}`;
  return [[schema.type ?? 'any'].flat().join(' | '), schema.format].filter(Boolean).join(', ');
};
const boundsOf = (schema) =>
  bounds
    .filter((key) => schema?.[key] !== undefined && !(key === 'pattern' && schema.format) && Math.abs(schema[key]) !== Number.MAX_SAFE_INTEGER)
    .map((key) => `${key} ${JSON.stringify(schema[key])}`)
    .join(', ');
const about = (schema) => [schema?.description, boundsOf(schema)].filter(Boolean).join(' · ');

const treeOf = (schema, depth = 0) => {
  const parts = [];
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    const needed = schema.required?.includes(name) ? '' : '?';
    const inner = depth < 6 ? treeOf(field, depth + 1) : undefined;
    parts.push(make('li', {}, text('span', name + needed, 'name'), ' ', text('span', typeOf(field), 'soft'), ' ', about(field), inner));
  }
  if (typeof schema?.additionalProperties === 'object' && Object.keys(schema.additionalProperties).length > 0)
    parts.push(make('li', {}, text('span', '[any name]', 'name'), ' ', text('span', typeOf(schema.additionalProperties), 'soft'), treeOf(schema.additionalProperties, depth + 1)));
  const within = [schema?.items, ...(choicesOf(schema) ?? []), ...(schema?.allOf ?? [])].filter((one) => one !== undefined).map((one) => treeOf(one, depth + 1));
  if (parts.length > 0) return make('ul', { className: 'schema' }, ...parts);
  const shown = within.filter((one) => one !== undefined);
  return shown.length === 0 ? undefined : make('div', {}, ...shown);
};

const schemaBlock = (title, content) => {
  const [type, entry] = Object.entries(content ?? {})[0] ?? [];
  if (entry?.schema === undefined) return undefined;
  const raw = make('details', {}, text('summary', 'JSON Schema'));
  raw.addEventListener('toggle', () => { if (raw.childElementCount === 1) raw.append(text('pre', JSON.stringify(entry.schema, null, 2))); });
  return make('div', {}, text('h4', title), make('p', { className: 'soft' }, `${type}: ${typeOf(entry.schema)}`), treeOf(entry.schema), raw);
};

const sampleOf = (schema, depth = 0) => {
  if (schema === undefined || schema === true || depth > 6) return null;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (choicesOf(schema)) return sampleOf(choicesOf(schema)[0], depth + 1);
  const type = [schema.type].flat()[0];
  if (type === 'object') return Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name, field]) => schema.required?.includes(name) && field.default === undefined).map(([name, field]) => [name, sampleOf(field, depth + 1)]));
  return { array: [], string: '', integer: schema.minimum ?? 0, number: schema.minimum ?? 0, boolean: false }[type] ?? null;
};

// Calls --------------------------------------------------------------------------------------------------------------
const fetchPath = (path, init) => fetch(path, { credentials: 'same-origin', ...init });

/** Asks; when the session's token is over, renews it once and asks again. */
const call = async (path, init) => {
  const answer = await fetchPath(path, init);
  if (answer.status !== 401 || path.startsWith('/auth/')) return answer;
  const renewed = await fetchPath('/auth/refresh', { method: 'POST' });
  return renewed.ok ? fetchPath(path, init) : answer;
};

const showSession = async () => {
  const answer = await call('/auth/session');
  const session = answer.ok ? await answer.json() : undefined;
  find('sign-in').hidden = session !== undefined;
  find('sign-out').hidden = session === undefined;
  find('who').textContent = session === undefined ? 'Not signed in' : `${session.user.email} · ${session.tenant.name} · ${session.role}`;
};

find('sign-in').addEventListener('submit', async (event) => {
  event.preventDefault();
  const fields = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
  const answer = await fetchPath('/auth/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fields) });
  find('problem').textContent = answer.ok ? '' : (await answer.json()).message;
  if (answer.ok) event.target.reset();
  await showSession();
});
find('sign-out').addEventListener('click', async () => { await fetchPath('/auth/logout', { method: 'POST' }); await showSession(); });

const quoted = (part) => `'${part.replaceAll("'", "'\\''")}'`;

const tryIt = (path, method, operation) => {
  const fields = (operation.parameters ?? []).map((parameter) => ({ parameter, input: make('input', { placeholder: parameter.required ? 'needed' : '', ariaLabel: parameter.name, spellcheck: false }) }));
  const content = operation.requestBody?.content?.['application/json'];
  const body = content === undefined ? undefined : make('textarea', { value: JSON.stringify(sampleOf(content.schema), null, 2), ariaLabel: 'Body', spellcheck: false });
  const result = make('div', { className: 'wide' });
  const form = make('form', { className: 'try' }, ...fields.flatMap(({ parameter, input }) => [text('label', `${parameter.name} (${parameter.in})`, 'name'), input]), body === undefined ? undefined : make('div', { className: 'wide' }, body), make('div', { className: 'wide' }, make('button', { textContent: `Send ${method.toUpperCase()}` })), result);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const valued = fields.filter(({ input }) => input.value !== '');
    const of = (where) => valued.filter(({ parameter }) => parameter.in === where).map(({ parameter, input }) => [parameter.name, input.value]);
    const values = Object.fromEntries(of('path'));
    const query = String(new URLSearchParams(of('query')));
    const target = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? '')) + (query && `?${query}`);
    const headers = { ...Object.fromEntries(of('header')), ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const curl = ['curl', '-X', method.toUpperCase(), quoted(location.origin + target), '-H "authorization: Bearer $TOKEN"', ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`), ...(body === undefined ? [] : ['-d', quoted(body.value)])].join(' ');
    const started = performance.now();
    try {
      const answer = await call(target, { method: method.toUpperCase(), headers, ...(body === undefined ? {} : { body: body.value }) });
      const bodyText = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json');
      const shown = ['x-request-id', 'etag', 'x-cache', 'retry-after'].filter((name) => answer.headers.has(name)).map((name) => `${name}: ${answer.headers.get(name)}`);
      result.replaceChildren(text('p', [answer.status, `${Math.round(performance.now() - started)} ms`, ...shown].join(' · '), answer.ok ? 'good' : 'bad'), text('pre', isJson ? JSON.stringify(JSON.parse(bodyText), null, 2) : bodyText.slice(0, 100_000)), text('pre', curl));
    } catch (error) {
      result.replaceChildren(text('p', String(error), 'bad'));
    }
  });
  return form;
};

// Operations ---------------------------------------------------------------------------------------------------------
const errorsOf = (operation, document_) =>
  Object.entries(operation.responses ?? {})
    .filter(([status]) => status >= '400')
    .map(([status, response]) => `${status} ${document_.components.responses[response.$ref?.split('/').at(-1)]?.description ?? response.description ?? ''}`)
    .join(' · ');

const detail = ({ path, method, operation }, document_) => {
  const rows = (operation.parameters ?? []).map(({ name, required, schema, description, in: where }) => make('tr', {}, make('td', {}, text('span', name, 'name')), text('td', where + (required ? ', required' : '')), text('td', typeOf(schema)), text('td', [description, boundsOf(schema)].filter(Boolean).join(' · '))));
  return make('div', { className: 'body' }, text('p', operation.description ?? ''), rows.length > 0 ? make('div', {}, text('h4', 'Parameters'), make('table', {}, ...rows)) : undefined, schemaBlock('Request body', operation.requestBody?.content), schemaBlock('Answer', operation.responses?.['200']?.content), text('h4', 'Errors'), text('p', errorsOf(operation, document_), 'soft'), text('h4', 'Try it'), operation['x-oiq-built'] === false ? text('p', 'Not built yet: it answers 501.', 'soft') : tryIt(path, method, operation));
};

const scopeOf = (operation) => (operation.security ?? []).flatMap((one) => one.token ?? [])[0];

const rowOf = (entry, document_) => {
  const { path, method, operation } = entry;
  const built = operation['x-oiq-built'] !== false;
  const role = operation['x-oiq-role'];
  const tags = [role === 'none' ? 'public' : role, operation['x-oiq-entitlement'], built ? undefined : 'not built'].filter(Boolean);
  const row = make('details', { id: operation.operationId, className: built ? '' : 'unbuilt' }, make('summary', {}, text('b', method.toUpperCase(), 'method'), text('code', path), text('span', operation.summary, 'what'), ...tags.map((tag) => text('span', tag, 'tag'))));
  row.dataset.text = [method, path, operation.operationId, operation.summary, scopeOf(operation)].join(' ').toLowerCase();
  row.dataset.built = String(built);
  row.dataset.role = role;
  row.addEventListener('toggle', () => {
    if (!row.open) return;
    if (row.childElementCount === 1) row.append(detail(entry, document_));
    history.replaceState(null, '', `#${operation.operationId}`);
  });
  return row;
};

const filter = () => {
  const words = find('find').value.toLowerCase().split(/\s+/);
  const role = find('role').value;
  for (const section of document.querySelectorAll('section')) {
    let shown = 0;
    for (const row of section.querySelectorAll(':scope > details')) {
      row.hidden = !words.every((word) => row.dataset.text.includes(word)) || (find('built').checked && row.dataset.built === 'false') || (role !== '' && row.dataset.role !== role);
      if (!row.hidden) shown++;
    }
    section.hidden = shown === 0;
    const link = document.querySelector(`nav a[href="#${section.id}"]`);
    link.hidden = shown === 0;
    link.lastChild.textContent = String(shown);
  }
};

const openLinked = () => {
  const row = document.getElementById(location.hash.slice(1));
  if (row?.tagName !== 'DETAILS') return;
  row.open = true;
  row.scrollIntoView();
};

const show = (document_) => {
  const groups = new Map(document_.tags.map(({ name }) => [name, []]));
  for (const [path, item] of Object.entries(document_.paths)) for (const [method, operation] of Object.entries(item)) groups.get(operation.tags[0]).push({ path, method, operation });
  for (const [name, list] of groups) {
    find('list').append(make('section', { id: `group-${name}` }, text('h2', name), ...list.map((entry) => rowOf(entry, document_))));
    find('groups').append(make('a', { href: `#group-${name}` }, name, text('small', String(list.length))));
  }
  const all = [...groups.values()].flat();
  find('title').textContent = `${document_.info.title} ${document_.info.version}`;
  find('count').textContent = `${all.length} operations, ${all.filter(({ operation }) => operation['x-oiq-built'] !== false).length} of them built`;
  for (const role of new Set(all.map(({ operation }) => operation['x-oiq-role']))) find('role').append(make('option', { value: role, textContent: role }));
  for (const id of ['find', 'built', 'role']) find(id).addEventListener('input', filter);
  openLinked();
};

addEventListener('hashchange', openLinked);
addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName)) return;
  event.preventDefault();
  find('find').focus();
});
fetchPath('/api/openapi.json').then((answer) => answer.json()).then(show).catch((error) => { find('title').textContent = `The document could not be read: ${error.message}`; });
showSession().catch(() => undefined);
