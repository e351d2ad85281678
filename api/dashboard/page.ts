import { acceptInvitePage } from './accept-invite.ts';
import { forgotPasswordPage } from './forgot-password.ts';
import type { Page } from './html.ts';
import { loginPage } from './login.ts';
import { resetPasswordPage } from './reset-password.ts';
import { problem, smallPage } from './shell.ts';

const markup = `<h1>OIQ is running</h1><p>It receives logs, metrics and traces over OpenTelemetry and Prometheus remote-write. Read them through the management API.</p>
<section class="card" id="signed-in" hidden>
<dl><dt>Signed in as</dt><dd id="person"></dd><dt>Organization</dt><dd id="organization"></dd><dt>Role</dt><dd id="role"></dd></dl>
<form id="switch" hidden><div><label for="place">Your other organizations</label><select id="place" name="organizationId"></select></div>${problem}<button class="plain">Go there</button></form>
<form id="sign-out">${problem}<button class="plain">Sign out</button></form></section>
<p id="signed-out" hidden><a id="sign-in" href="/login">Sign in</a></p>
<p id="unknown" class="problem" role="alert" hidden></p>
<section class="card"><dl>
<dt>Send telemetry</dt><dd><code>POST /otlp/v1/logs</code>, <code>/otlp/v1/metrics</code>, <code>/otlp/v1/traces</code> with a license key in <code>X-License-Key</code></dd>
<dt>Sign in</dt><dd><a href="/login">here</a>, or <code>POST /auth/login</code> with <code>{"email", "password"}</code></dd>
<dt>Read</dt><dd><code>GET /api/logs</code>, <code>/api/metrics</code>, <code>/api/traces</code></dd>
<dt>Reference</dt><dd><a href="/api/docs">every operation</a> · <a href="/api/openapi.json">OpenAPI document</a></dd>
</dl></section>`;

const script = `
const form = find('sign-out');
onSubmit(form, async () => {
  const { ok, body } = await askSignedIn('POST', '/auth/logout');
  if (ok || body.error === 'UNAUTHENTICATED') return location.replace('/login');
  complain(form, body);
});

/** Lets members of several organizations switch between them. */
const places = find('switch');
const showPlaces = async () => {
  const { ok, body } = await askSignedIn('GET', '/api/organizations');
  const others = ok ? body.items.filter(({ current }) => !current) : [];
  for (const { id, name } of others) find('place').add(new Option(name, id));
  places.hidden = others.length === 0;
};
onSubmit(places, async () => {
  const { ok, body } = await askSignedIn('POST', '/auth/switch-tenant', fieldsOf(places));
  if (ok) location.reload();
  else complain(places, body);
});

const { ok, body } = await askSignedIn('GET', '/auth/session');
if (ok) {
  find('person').textContent = body.user.name + ' (' + body.user.email + ')';
  find('organization').textContent = body.tenant.name;
  find('role').textContent = body.role;
  find('signed-in').hidden = false;
  await showPlaces();
} else if (body.error === 'UNAUTHENTICATED') {
  find('sign-in').href = '/login?' + new URLSearchParams({ returnTo: location.pathname + location.search });
  find('signed-out').hidden = false;
} else {
  find('unknown').textContent = body.message;
  find('unknown').hidden = false;
}
`;

/** What a GET outside the API gets where there is no page of its own: where things are, and who is signed in. */
const dashboardPage = smallPage({ title: 'OIQ', markup, script });

const pages: ReadonlyMap<string, Page> = new Map([
  ['/login', loginPage],
  ['/accept-invite', acceptInvitePage],
  ['/reset-password', resetPasswordPage],
  ['/forgot-password', forgotPasswordPage],
]);

/** The page at a path outside the API. */
export const pageAt = (path: string): Page => pages.get(path.endsWith('/') ? path.slice(0, -1) : path) ?? dashboardPage;

/** What any other method outside the API gets. */
export const notFoundPage = smallPage({
  title: 'Not found · OIQ',
  markup:
    '<h1>Page not found</h1><p>The management API is under <code>/api/</code>, ingest under <code>/otlp/</code>. See <a href="/api/docs">the reference</a>.</p>',
});
