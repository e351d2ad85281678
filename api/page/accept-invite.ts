import { createSmallPage, problemElement, renderDoneMessage, renderField, renderMissingTokenText } from './shell.ts';

const markup = `<h1>Join on OIQ</h1>
<section class="card">${renderMissingTokenText('If it does not work, ask for a new invitation, or register again.')}
<form id="join" data-to="/auth/accept-invite" hidden>
<label class="check"><input type="checkbox" id="known"> I have an account on OIQ already</label>
<fieldset id="new">${renderField({
  name: 'name',
  label: 'Your name',
  attributes: 'autocomplete="name" maxlength="256" required autofocus',
})}</fieldset>
${renderField({
  name: 'password',
  label: 'Choose a password',
  hint: 'At least 12 characters; several words work well.',
  attributes: 'type="password" autocomplete="new-password" minlength="12" maxlength="1024" required',
})}
${problemElement}<button>Join</button></form>
${renderDoneMessage('<a href="/login">Sign in</a>')}</section>
<p class="soft">Already in the organization? <a href="/login">Sign in</a></p>`;

const script = `
const form = find('join');
const link = tokenOfLink(form);
const known = find('known');
const password = find('password');

/** New users enter a name and choose a password. Users with an account confirm it with their password. */
const show = () => {
  const has = known.checked;
  find('new').hidden = find('new').disabled = has;
  find('password-label').textContent = has ? 'Your password' : 'Choose a password';
  find('password-hint').textContent = has
    ? 'The password of your account, which does not change. Leave it empty if you sign in through your organization.'
    : 'At least 12 characters; a phrase of several words works well.';
  password.autocomplete = has ? 'current-password' : 'new-password';
  password.required = !has;
  password.minLength = has ? 0 : 12;
};
known.addEventListener('change', show);
show();

onSubmit(form, async () => {
  const { ok, body } = await sendForm(form, { token: link.token });
  if (ok && body.token !== undefined) return goOn(form, '/');
  if (ok) return showMessage(form, 'You are in the organization ' + body.tenant.name + ' now. Sign in as ' + body.user.email + ' to go there.');
  if (body.error === 'UNAUTHENTICATED' && !known.checked) {
    known.checked = true;
    password.value = '';
    show();
  }
  complain(form, body);
});
`;

/** Page `/accept-invite#token=…`: for an invitation, or the confirmation of a registration. */
export const acceptInvitePage = createSmallPage({ title: 'Join · OIQ', narrow: true, markup, script });
