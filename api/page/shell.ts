import { readFileSync } from 'node:fs';
import { type Page, pageOf } from './html.ts';

const part = (name: string): string => readFileSync(new URL(`shell/${name}`, import.meta.url), 'utf8');
const style = part('shell.css');
const shared = part('shell.js');

/** A small page. All of it is trusted: it must not contain user input. Its script can use the functions of `shell.js`. */
export const smallPage = ({
  title,
  markup,
  script,
  narrow = false,
}: {
  readonly title: string;
  readonly markup: string;
  readonly script?: string;
  /** For a form. */
  readonly narrow?: boolean;
}): Page =>
  pageOf({
    title,
    style,
    markup: `<main${narrow ? ' class="narrow"' : ''}>${markup}</main>`,
    ...(script === undefined ? {} : { script: `${shared}\n${script}` }),
  });

/** A field with its label and, where given, a hint that is read out with it. `name` is that of the operation's body. */
export const field = ({
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

/** Where a form shows what the API had against it. */
export const problem = '<p class="problem" role="alert" tabindex="-1" hidden></p>';

/** What takes the place of a form that did its work; `next` is where to go from there. */
export const doneMessage = (next: string): string =>
  `<div class="said" role="status" tabindex="-1" hidden><p></p><p>${next}</p></div>`;

/** What a page for a mailed link shows when it is opened without one. */
export const withoutToken = (advice: string): string =>
  `<p id="no-token" hidden>This page needs the full link from the mail. Open it from there again: the page removes the token from the address. ${advice}</p>`;
