/** Converts element selectors of a Chrome Recorder recording to targets */
import type { z } from 'zod';
import { isOneTimeCodeName, isSecretName } from '../../schemas/secret-names.ts';
import type { BrowserTarget } from './types/browser-steps.ts';

/** One selector chain for an element, each selector within the result of the previous one */
export type Selector = string | readonly string[];

/** A target as written in a step */
export type TargetInput = z.input<typeof BrowserTarget>;

/** Implicit roles of elements, regardless of their attributes */
const implicitRoles: Readonly<Record<string, string>> = {
  a: 'link',
  button: 'button',
  select: 'combobox',
  textarea: 'textbox',
  option: 'option',
  img: 'img',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
};

const toChain = (selector: Selector): readonly string[] => (typeof selector === 'string' ? [selector] : selector);

const getLastSelector = (selector: Selector): string => toChain(selector).at(-1) ?? '';

const isCss = (selector: string): boolean => !/^(?:aria|text|xpath|pierce)\//.test(selector);

const stripCssPrefix = (selector: string): string => selector.replace(/^(?:css|pierce)\//, '');

/** Our CSS selectors pierce shadow roots, like `pierce` and selector chains. */
const findCss = (selectors: readonly Selector[]): string | undefined => {
  const chains = selectors.map(toChain);
  const plainCssChain = chains.find((chain) => chain.every(isCss));
  const piercingChain = chains.find((chain) => chain.every((value) => isCss(value) || value.startsWith('pierce/')));
  const css = (plainCssChain ?? piercingChain)?.map(stripCssPrefix).join(' ').trim();
  return css === undefined || css === '' || css.includes('>>') ? undefined : css;
};

/** Returns the tag name of the element, if a selector ends with one. */
const findTag = (selectors: readonly Selector[]): string | undefined =>
  selectors
    .map(getLastSelector)
    .filter((value) => isCss(value) || /^(?:xpath|pierce)\//.test(value))
    .map((value) => /(?:^|[\s>/])([a-z][a-z0-9]{0,15})(?:[.:[#][^\s>/]*)?$/.exec(value)?.[1])
    .find((tag) => tag !== undefined);

const rolePrefix = '[role="';

/** Returns the accessible name, and the role if it is specified. */
const findAria = (selectors: readonly Selector[]): { readonly name: string; readonly role?: string } | undefined => {
  const ariaSelector = selectors.map(getLastSelector).find((value) => value.startsWith('aria/'));
  if (ariaSelector === undefined) return undefined;
  const roleIndex = ariaSelector.endsWith('"]') ? ariaSelector.lastIndexOf(rolePrefix) : -1;
  const [name, role] =
    roleIndex < 0
      ? [ariaSelector, '']
      : [ariaSelector.slice(0, roleIndex), ariaSelector.slice(roleIndex + rolePrefix.length, -2)];
  // Chromium has internal roles, such as StaticText, which other tools do not know.
  const isKnown = /^[a-z]{1,32}$/.test(role);
  return { name: name.slice('aria/'.length).replaceAll(/\s+/g, ' ').trim(), ...(isKnown && { role }) };
};

const findTestId = (css: string | undefined): string | undefined =>
  css === undefined ? undefined : /^\[data-testid=(["'])([^"']+)\1\]$/.exec(css)?.[2];

/** Returns whether a change selects an option instead of filling in a field. */
export const isOptionSelection = (selectors: readonly Selector[]): boolean => {
  const tag = findTag(selectors);
  return tag === undefined ? ['combobox', 'listbox'].includes(findAria(selectors)?.role ?? '') : tag === 'select';
};

const isSecretField = (selectors: readonly Selector[]): boolean => selectors.flatMap(toChain).some(isSecretName);

/** A one-time code as a person types it */
const oneTimeCode = /^\d{3}[ -]?\d{3}$/;

/**
 * Returns the template that replaces a value that was typed into a sensitive field: a variable, or the one-time code of
 * a variable; `undefined` for other fields.
 */
export const toSecretTemplate = (selectors: readonly Selector[], value: string): string | undefined => {
  if (!isSecretField(selectors)) return undefined;
  const isCode = oneTimeCode.test(value) && selectors.flatMap(toChain).some(isOneTimeCodeName);
  return `{{${isCode ? 'code' : 'variables'}.${toVariableName(selectors)}}}`;
};

const toVariableName = (selectors: readonly Selector[]): string => {
  const label = findAria(selectors)?.name ?? findCss(selectors) ?? '';
  const words = label
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter((word) => word !== '');
  const name = words
    .join('_')
    .replace(/^\d{1,64}_?/, '')
    .slice(0, 64);
  return name === '' ? 'secret' : name;
};

/**
 * Returns the target that is closest to how people identify the element; `undefined` if no selector is supported.
 */
export const findTarget = (selectors: readonly Selector[]): TargetInput | undefined => {
  const css = findCss(selectors);
  const testId = findTestId(css);
  if (testId !== undefined) return { by: 'testId', testId };
  const aria = findAria(selectors);
  const role = aria?.role ?? implicitRoles[findTag(selectors) ?? ''];
  // Chromium reports a password field as a text box; other tools do not.
  const isRoleUsable = role !== 'textbox' || !isSecretField(selectors);
  if (aria !== undefined && role !== undefined && isRoleUsable)
    return { by: 'role', role, name: aria.name === '' ? null : aria.name, exact: aria.name !== '' };
  const text = selectors.map(getLastSelector).find((value) => value.startsWith('text/'));
  if (text !== undefined) return { by: 'text', text: text.slice('text/'.length).trim() };
  if (css !== undefined) return { by: 'css', css };
  return aria === undefined ? undefined : { by: 'label', label: aria.name, exact: true };
};
