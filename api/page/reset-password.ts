import { doneMessage, field, problem, smallPage, withoutToken } from './shell.ts';

const again = '<a href="/forgot-password">Ask for a new link</a>';

const markup = `<h1>Choose a new password</h1>
<section class="card">${withoutToken(`${again} if it does not work.`)}
<form id="reset" data-to="/auth/reset-password" hidden>
${field({
  name: 'password',
  label: 'New password',
  hint: 'At least 12 characters; a few words are good. All your sessions end.',
  attributes: 'type="password" autocomplete="new-password" minlength="12" maxlength="1024" required autofocus',
})}
${problem}<p id="again" hidden>${again}</p><button>Set the password</button></form>
${doneMessage('<a href="/login">Sign in</a>')}</section>`;

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

/** `/reset-password#token=…`. */
export const resetPasswordPage = smallPage({ title: 'New password · OIQ', narrow: true, markup, script });
