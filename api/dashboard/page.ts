import { type Page, pageOf } from './html.ts';

/** Pages outside the API. The dashboard itself is to come: this says where things are. Nothing is loaded from elsewhere. */
const style = `
:root { color-scheme: light dark; --ink: #1c2430; --paper: #f7f8fa; --card: #fff; --line: #dde2e9; --accent: #0b6bcb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --paper: #12161c; --card: #1a2029; --line: #2c3542; --accent: #6cb2ff; } }
* { box-sizing: border-box } body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
main { max-width: 44rem; margin: 12vh auto; padding: 0 1.5rem } h1 { font-size: 1.6rem; margin: 0 0 .5rem }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem 1.3rem; margin-top: 1rem }
a { color: var(--accent) } code { font: .9em ui-monospace, monospace } dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1rem; margin: 0 } dd { margin: 0 }
`;

const page = (title: string, content: string): Page => pageOf({ title, style, markup: `<main>${content}</main>` });

/** What a GET outside the API gets. */
export const dashboardPage = page(
  'OIQ',
  `<h1>OIQ is running</h1><p>Logs, metrics and traces come in over OpenTelemetry and Prometheus remote-write, and are read through the management API.</p>
<section class="card"><dl>
<dt>Send telemetry</dt><dd><code>POST /otlp/v1/logs</code>, <code>/otlp/v1/metrics</code>, <code>/otlp/v1/traces</code> with a license key in <code>X-License-Key</code></dd>
<dt>Sign in</dt><dd><code>POST /auth/login</code> with <code>{"email", "password"}</code></dd>
<dt>Read</dt><dd><code>GET /api/logs</code>, <code>/api/metrics</code>, <code>/api/traces</code></dd>
<dt>Reference</dt><dd><a href="/api/docs">every operation</a> · <a href="/api/openapi.json">OpenAPI document</a></dd>
</dl></section>`,
);

/** What any other method outside the API gets. */
export const notFoundPage = page(
  'Not found · OIQ',
  '<h1>Nothing here takes that</h1><p>The management API is under <code>/api/</code>, ingest under <code>/otlp/</code>. See <a href="/api/docs">the reference</a>.</p>',
);
