import { createSmallPage, problemElement, renderDoneMessage, renderField, renderMissingTokenText } from './shell.ts';

const newLinkText = '<a href="/forgot-password">Request a new link</a>';

const markup = `<h1>Choose a new password</h1>
<section class="card">${renderMissingTokenText(`${newLinkText} if it does not work.`)}
<form id="reset" data-to="/auth/reset-password" hidden>
${renderField({
  name: 'password',
  label: 'New password',
  hint: 'At least 12 characters; a phrase of several words works well. You will be signed out everywhere.',
  attributes: 'type="password" autocomplete="new-password" minlength="12" maxlength="1024" required autofocus',
})}
${problemElement}<p id="again" hidden>${newLinkText}</p><button>Set the password</button></form>
${renderDoneMessage('<a href="/login">Sign in</a>')}</section>`;

const script = `
const form = find('reset');
const link = tokenOfLink(form);
onSubmit(form, async () => {
  const { ok, body } = await sendForm(form, { token: link.token });
  find('again').hidden = body.error !== 'TOKEN_INVALID';
  if (!ok) return complain(form, body);
  link.token = undefined;
  form.reset();
  showMessage(form, 'The password is set, and all your sessions were ended.');
});
`;

/** Page `/reset-password#token=…`. */
export const resetPasswordPage = createSmallPage({ title: 'New password · OIQ', narrow: true, markup, script });
