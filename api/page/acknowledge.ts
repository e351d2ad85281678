import { createSmallPage, problemElement, renderDoneMessage, renderMissingTokenText } from './shell.ts';

const markup = `<h1>Acknowledge the incident</h1>
<section class="card">${renderMissingTokenText('<a href="/">Or sign in</a>.')}
<form id="acknowledge" data-to="/auth/acknowledge-incident" hidden>
<p>Nobody else is paged for the incident after you acknowledge it.</p>
${problemElement}<button autofocus>Acknowledge</button></form>
${renderDoneMessage('<a href="/">Open OIQ</a>')}</section>`;

const script = `
const form = find('acknowledge');
const link = tokenOfLink(form);
onSubmit(form, async () => {
  const { ok, body } = await sendForm(form, { token: link.token });
  if (!ok) return complain(form, body);
  showMessage(form, 'You acknowledged the incident: ' + body.title);
});
`;

/** Page `/acknowledge#token=…`. Opening it does not acknowledge the incident yet, because mail scanners follow links. */
export const acknowledgePage = createSmallPage({ title: 'Acknowledge · OIQ', narrow: true, markup, script });
