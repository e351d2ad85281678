import { readFileSync } from 'node:fs';
import { createPage, type Page } from './html.ts';

const readShellFile = (name: string): string => readFileSync(new URL(`shell/${name}`, import.meta.url), 'utf8');
const style = readShellFile('shell.css');
const sharedScript = readShellFile('shell.js');

/**
 * Creates a small page. Its content is not escaped, so it must not contain user input. Its script can use the functions
 * of `shell.js`.
 */
export const createSmallPage = ({
  title,
  markup,
  script,
  narrow = false,
}: {
  readonly title: string;
  readonly markup: string;
  readonly script?: string;
  /** For a form */
  readonly narrow?: boolean;
}): Page =>
  createPage({
    title,
    style,
    markup: `<main${narrow ? ' class="narrow"' : ''}>${markup}</main>`,
    ...(script === undefined ? {} : { script: `${sharedScript}\n${script}` }),
  });

/**
 * A field with its label and an optional hint that screen readers announce with it. `name` is the name of the field
 * in the operation's body.
 */
export const renderField = ({
  name,
  label,
  hint,
  attributes,
}: {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly attributes: string;
}): string =>
  `<div><label for="${name}" id="${name}-label">${label}</label><input id="${name}" name="${name}" ${attributes}${
    hint === undefined ? '>' : ` aria-describedby="${name}-hint"><p class="hint" id="${name}-hint">${hint}</p>`
  }</div>`;

/** Element of a form for errors of the API */
export const problemElement = '<p class="problem" role="alert" tabindex="-1" hidden></p>';

/** Message that replaces a completed form; `nextLink` is the link to continue. */
export const renderDoneMessage = (nextLink: string): string =>
  `<div class="said" role="status" tabindex="-1" hidden><p></p><p>${nextLink}</p></div>`;

/** Content of a page for a mailed link when it is opened without a token. */
export const renderMissingTokenText = (advice: string): string =>
  `<p id="no-token" hidden>This page needs the full link from the mail. Open the link in the mail again: the page removes the token from the address. ${advice}</p>`;
