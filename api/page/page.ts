import { acceptInvitePage } from './accept-invite.ts';
import { acknowledgePage } from './acknowledge.ts';
import { forgotPasswordPage } from './forgot-password.ts';
import type { Page } from './html.ts';
import { loginPage } from './login.ts';
import { resetPasswordPage } from './reset-password.ts';
import { createSmallPage } from './shell.ts';

/** Standalone pages by path */
export const smallPages: ReadonlyMap<string, Page> = new Map([
  ['/login', loginPage],
  ['/accept-invite', acceptInvitePage],
  ['/acknowledge', acknowledgePage],
  ['/reset-password', resetPasswordPage],
  ['/forgot-password', forgotPasswordPage],
]);

/** Returns the standalone page at a path, which needs no build; undefined if the built page serves the path. */
export const findSmallPage = (path: string): Page | undefined =>
  smallPages.get(path.endsWith('/') ? path.slice(0, -1) : path);

/** Response to methods other than GET outside of the API */
export const notFoundPage = createSmallPage({
  title: 'Not found · OIQ',
  markup:
    '<h1>Page not found</h1><p>The management API is under <code>/api/</code>, ingest under <code>/otlp/</code>. See <a href="/api/docs">the reference</a>.</p>',
});
