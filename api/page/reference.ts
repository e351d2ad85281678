import { readFileSync } from 'node:fs';
import { createPage } from './html.ts';

const readPart = (name: string): string => readFileSync(new URL(`reference/${name}`, import.meta.url), 'utf8');

const markup = `<nav><b>Groups</b><div id="groups"></div></nav><main>
<h1 id="title">API reference</h1><p class="soft"><span id="count"></span> · <a href="/api/openapi.json">OpenAPI document</a> · <a href="/api/asyncapi.json">AsyncAPI document</a> (streams)</p>
<p><span id="who" class="soft"></span> <button id="sign-out" type="button" hidden>Sign out</button></p>
<form id="sign-in" class="session" hidden><input name="email" type="email" placeholder="E-mail" aria-label="E-mail" autocomplete="username" required><input name="password" type="password" placeholder="Password" aria-label="Password" autocomplete="current-password" required><input name="code" placeholder="Code, if required" aria-label="Code" autocomplete="one-time-code"><button>Sign in</button><span id="problem" class="bad" role="alert"></span></form>
<div class="bar"><input id="find" type="search" placeholder="Find an operation ( / )" aria-label="Find an operation"><label><input id="built" type="checkbox"> built only</label><select id="role" aria-label="Role"><option value="">any role</option></select></div>
<div id="list"></div></main>`;

/**
 * The browsable reference of `/api/openapi.json`, which can also send calls with the session; it needs no external
 * resources.
 */
export const referencePage = createPage({
  title: 'API reference · OIQ',
  style: readPart('reference.css'),
  markup,
  script: readPart('reference.js'),
});
