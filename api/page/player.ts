import type { Page } from './html.ts';

/**
 * The frame that plays recordings of sessions. Recordings are built by visitors of pages, so this document loads nothing
 * but its script, and connects to nothing. Frames within it inherit the policy; the player puts the recorded page into a
 * frame that runs no script.
 */
export const playerPage: Page = {
  body: '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Session replay</title></head><body><script src="/rum/player.js"></script></body></html>\n',
  policy: [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "form-action 'none'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    'sandbox allow-scripts allow-same-origin',
  ].join('; '),
};
