import { createSmallPage, problemElement, renderField } from './shell.ts';

const markup = `<h1>Sign in to OIQ</h1>
<section class="card"><form id="password-form" data-to="/auth/login" autocomplete="on">
${renderField({ name: 'email', label: 'E-mail address', attributes: 'type="email" autocomplete="username" maxlength="320" required autofocus' })}
${renderField({ name: 'password', label: 'Password', attributes: 'type="password" autocomplete="current-password" maxlength="1024" required' })}
<fieldset id="second" hidden disabled>${renderField({
  name: 'code',
  label: 'Code',
  hint: 'The code from your authenticator; each code works once. Without the authenticator, enter a recovery code.',
  attributes: 'autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="32" required',
})}</fieldset>
${problemElement}<button>Sign in</button>
</form><p><a href="/forgot-password">Forgot your password?</a></p></section>
<details id="sso" class="card"><summary>Single sign-on</summary><form id="sso-form">
${renderField({
  name: 'who',
  label: 'E-mail address or organization',
  hint: 'Your work address, or the id of your organization.',
  attributes: 'autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="320" required',
})}
${problemElement}<button class="plain">Go to my organization’s sign-in</button></form></details>`;

const script = String.raw`
const query = new URLSearchParams(location.search);

/** A path of this site; the start page for anything that could lead to another site. */
const localPath = (text) => {
  if (text === null || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\')) return '/';
  return URL.canParse(text, location.origin) && new URL(text, location.origin).origin === location.origin ? text : '/';
};
const returnTo = localPath(query.get('returnTo'));

const form = find('password-form');
onSubmit(form, async () => {
  const { ok, body } = await sendForm(form);
  if (ok) return goOn(form, returnTo);
  if (body.error === 'UNAUTHENTICATED' && !find('second').disabled) body.message += ', or the code';
  if (body.error !== 'MFA_REQUIRED') return complain(form, body);
  find('second').hidden = find('second').disabled = false;
  find('code').focus();
});
// Another address may not need a second factor.
find('email').addEventListener('input', () => {
  find('second').hidden = find('second').disabled = true;
  find('code').value = '';
});

const sso = find('sso-form');
onSubmit(sso, async () => {
  const who = find('who').value.trim();
  const query = new URLSearchParams({ [who.includes('@') ? 'email' : 'organization']: who, returnTo });
  const start = '/auth/sso/oidc/start?' + query;
  // Requested with fetch first, so that an error can be shown here.
  const answer = await fetch(start, { redirect: 'manual', credentials: 'same-origin' }).catch(() => undefined);
  if (answer?.type === 'opaqueredirect') return location.assign(start);
  complain(sso, await answer?.json().catch(() => undefined) ?? { message: 'the server did not respond; try again' });
});
find('sso').addEventListener('toggle', () => {
  if (!find('sso').open) return;
  find('who').value ||= find('email').value;
  find('who').focus();
});
if (query.get('organization')) {
  find('who').value = query.get('organization');
  find('sso').open = true;
}
`;

/** Page `/login?returnTo=/…`; with `organization=…`, offers single sign-on of that organization. */
export const loginPage = createSmallPage({ title: 'Sign in · OIQ', narrow: true, markup, script });
