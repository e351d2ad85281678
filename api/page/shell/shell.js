// What the small pages share. Text goes in as text, never as markup; what people type goes into the body of a POST.
const find = (id) => document.getElementById(id);

/** What the API answered, or why it did not: `body.message` is for people either way. */
const request = async (method, path, fields) => {
  try {
    const answer = await fetch(path, {
      method,
      credentials: 'same-origin',
      ...(fields === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(fields) }),
    });
    return { ok: answer.ok, body: await answer.json() };
  } catch {
    return { ok: false, body: { error: 'UNREACHABLE', message: 'the server did not answer; check the connection and try again' } };
  }
};

/** Asks with the session; when its token is over, renews it once and asks again. */
const requestSignedIn = async (method, path, fields) => {
  const answer = await request(method, path, fields);
  if (answer.ok || answer.body.error !== 'UNAUTHENTICATED') return answer;
  const renewed = await request('POST', '/auth/refresh');
  return renewed.ok ? request(method, path, fields) : answer;
};

/** Shows an error of the API at its form, marks the fields that it names, and leads there. */
const complain = (form, { message, details = [] }) => {
  const problem = form.querySelector('.problem');
  problem.textContent = message;
  problem.hidden = false;
  for (const { path } of details) form.elements.namedItem(path)?.setAttribute('aria-invalid', 'true');
  problem.focus();
};

const forget = (form) => {
  form.querySelector('.problem').hidden = true;
  for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
};

/** Runs `send` when the form is sent, one at a time. */
const onSubmit = (form, send) =>
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = form.querySelector('button');
    if (button.disabled) return;
    forget(form);
    button.disabled = true;
    try {
      await send();
    } finally {
      button.disabled = false;
    }
  });

/** What is filled in. */
const fieldsOf = (form) => Object.fromEntries([...new FormData(form)].filter(([name, value]) => name !== '' && value !== ''));

/** Posts the form to where it says, with `more`. */
const sendForm = (form, more = {}) => request('POST', form.dataset.to, { ...fieldsOf(form), ...more });

/** In place of the form. */
const showMessage = (form, text) => {
  const messageBox = form.parentElement.querySelector('.said');
  form.hidden = true;
  messageBox.hidden = false;
  messageBox.querySelector('p').textContent = text;
  messageBox.focus();
};

/** After a sign-in: on, unless the browser kept no cookie, as it does where a site is not reached over TLS. */
const goOn = async (form, where) => {
  const session = await request('GET', '/auth/session');
  if (session.ok) location.replace(where);
  else complain(form, session.body.error === 'UNAUTHENTICATED' ? { message: 'the sign-in worked, but this browser kept no session: allow cookies here, and open this site over https' } : session.body);
};

/** The token of a mailed link: taken out of the address bar and the history at once, and kept in this page alone. */
const tokenOfLink = (form) => {
  const link = { token: undefined };
  const readToken = () => {
    const given = new URLSearchParams(location.hash.slice(1)).get('token');
    if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
    if (given) link.token = given;
    form.hidden = !link.token;
    find('no-token').hidden = Boolean(link.token);
    form.querySelector('[autofocus]').focus();
  };
  addEventListener('hashchange', readToken);
  readToken();
  return link;
};
