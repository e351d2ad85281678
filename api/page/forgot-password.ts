import { createSmallPage, problemElement, renderDoneMessage, renderField } from './shell.ts';

const markup = `<h1>Forgot your password?</h1>
<section class="card"><form id="forgot" data-to="/auth/forgot-password">
${renderField({
  name: 'email',
  label: 'E-mail address',
  hint: 'A link to choose a new password is mailed there.',
  attributes: 'type="email" autocomplete="username" maxlength="320" required autofocus',
})}
${problemElement}<button>Mail me a link</button></form>
${renderDoneMessage('The link works once, for an hour. No mail? Check the spam folder and the address.')}</section>
<p><a href="/login">Sign in</a></p>`;

const script = `
const form = find('forgot');
onSubmit(form, async () => {
  const { ok, body } = await sendForm(form);
  if (!ok) return complain(form, body);
  if (body.mail === 'not-configured')
    return showMessage(form, 'No mail was sent, because this installation has no mail server. Ask its operator: if the address has an account, the link is in outbox.jsonl in the data directory.');
  showMessage(form, 'If ' + find('email').value.trim() + ' has an account, we have sent a mail to it.');
});
`;

/** Shows the same message for known and unknown addresses, like the API. */
export const forgotPasswordPage = createSmallPage({ title: 'Forgotten password · OIQ', narrow: true, markup, script });
