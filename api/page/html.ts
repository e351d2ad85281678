import { hash } from 'node:crypto';

/** A page with its content security policy: no external resources, and no script or style except its own. */
export interface Page {
  readonly body: string;
  /** `Content-Security-Policy`. */
  readonly policy: string;
}

const toCspSource = (text: string): string => (text === '' ? "'none'" : `'sha256-${hash('sha256', text, 'base64')}'`);

/** Creates a page. `markup` is not escaped, so it must not contain user input. */
export const createPage = ({
  title,
  style,
  markup,
  script = '',
  isForm = false,
  hasImages = false,
}: {
  readonly title: string;
  readonly style: string;
  readonly markup: string;
  readonly script?: string;
  /** Whether the page sends a form to this site, such as a search */
  readonly isForm?: boolean;
  /** Whether the page displays images of this site */
  readonly hasImages?: boolean;
}): Page => ({
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${style}</style></head><body>${markup}${script === '' ? '' : `<script type="module">${script}</script>`}</body></html>\n`,
  policy: [
    "default-src 'none'",
    `style-src ${toCspSource(style)}`,
    `script-src ${toCspSource(script)}`,
    "connect-src 'self'",
    hasImages ? "img-src 'self' data:" : 'img-src data:',
    isForm ? "form-action 'self'" : "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
});
