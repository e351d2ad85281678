/** Browser steps: the form fields of each action, and its defaults */
import { type CheckDraft, type SettingField, variableHint } from './setting-kinds.ts';

export type BrowserSettings = NonNullable<CheckDraft['browser']>;
export type BrowserStep = BrowserSettings['steps'][number];
export type BrowserAction = BrowserStep['action'];
export type BrowserTarget = (BrowserStep & { readonly action: 'click' })['target'];

/** Titles of the actions of browser steps */
export const browserActionTitles: Readonly<Record<BrowserAction, string>> = {
  goto: 'Go to URL',
  click: 'Click',
  hover: 'Hover',
  fill: 'Fill in',
  choose: 'Select option',
  press: 'Press key',
  wait: 'Wait for element',
  expect: 'Assert',
  extract: 'Extract variable',
};

const emptyTarget: BrowserTarget = { by: 'role', role: 'button', name: '' };

/** New browser step of each action */
export const emptyBrowserSteps: { readonly [Action in BrowserAction]: BrowserStep & { action: Action } } = {
  goto: { action: 'goto', url: 'https://' },
  click: { action: 'click', target: emptyTarget },
  hover: { action: 'hover', target: emptyTarget },
  fill: { action: 'fill', target: { by: 'label', label: '' }, text: '' },
  choose: { action: 'choose', target: { by: 'label', label: '' }, option: '' },
  press: { action: 'press', key: 'Enter' },
  wait: { action: 'wait', target: { by: 'text', text: '' } },
  expect: { action: 'expect', target: { by: 'text', text: '' }, read: 'text', operator: 'exists' },
  extract: { action: 'extract', target: { by: 'css', css: '' }, read: 'text', as: '' },
};

const withinField = { name: 'within', label: 'Timeout', kind: 'text', hint: 'Default: 5s' } as const;

/** Fields of each action, besides its target and assertions */
export const browserStepFields: Readonly<Record<BrowserAction, readonly SettingField[]>> = {
  goto: [{ name: 'url', label: 'URL', kind: 'text', hint: `https://shop.example/; may contain ${variableHint}` }],
  click: [{ name: 'count', label: 'Clicks', kind: 'number' }],
  hover: [],
  fill: [
    { name: 'text', label: 'Text', kind: 'text', hint: `Secrets as ${variableHint}` },
    { name: 'host', label: 'Host of the page', kind: 'optional', hint: 'Default: host of the last URL' },
  ],
  choose: [{ name: 'option', label: 'Option', kind: 'text' }],
  press: [{ name: 'key', label: 'Key', kind: 'text', hint: 'Enter or Control+A' }],
  wait: [{ name: 'until', label: 'Until', kind: ['visible', 'hidden'] }],
  expect: [{ name: 'read', label: 'Property', kind: ['text', 'value', 'count', 'url', 'title'] }],
  extract: [
    { name: 'read', label: 'Property', kind: ['text', 'value', 'count', 'url', 'title'] },
    { name: 'pattern', label: 'Regular expression', kind: 'optional', hint: 'Its first group is the value' },
    { name: 'as', label: 'Variable', kind: 'text', hint: 'Later steps use {{values.NAME}}' },
  ],
};

/** Further fields of browser steps, which are rarely needed */
export const browserOptionFields: readonly SettingField[] = [
  { name: 'name', label: 'Step name', kind: 'text' },
  withinField,
];

/** Kinds of targets, with the field of each */
export const targetKinds: Readonly<Record<BrowserTarget['by'], readonly [title: string, label: string]>> = {
  role: ['Role', 'Role'],
  label: ['Label', 'Label text'],
  text: ['Text', 'Text'],
  testId: ['Test ID', 'Test ID'],
  css: ['CSS selector', 'CSS selector'],
};
