/** Browser steps as data; no user code is executed */
import { z } from 'zod';
import { durationSchema } from '../../alerts/durations.ts';
import { operators } from '../assertions.ts';
import { templateNamePattern } from '../templates.ts';
import { isSecretValue } from './secret-value.ts';
import { assertions } from './socket-settings.ts';

const name = z.string().max(256).default('');
const within = durationSchema('100ms', '1m').default('5s').describe('Maximum time to wait');
const text = z.string().min(1).max(1024);

const exact = z
  .boolean()
  .default(false)
  .describe('Whether to match the complete text case-sensitively; otherwise a substring is sufficient');

/** Elements of the page, by the attributes with which people or tests find them */
export const BrowserTarget = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('role'),
    role: z.string().regex(/^[a-z]{1,32}$/, 'must be a role, such as button'),
    name: text.nullable().default(null).describe('Accessible name of the element'),
    exact,
  }),
  z.strictObject({ by: z.literal('label'), label: text, exact }),
  z.strictObject({ by: z.literal('text'), text, exact }),
  z.strictObject({ by: z.literal('testId'), testId: text.describe('Value of the attribute `data-testid`') }),
  z.strictObject({ by: z.literal('css'), css: text }),
]);
export type BrowserTarget = z.output<typeof BrowserTarget>;

const target = BrowserTarget.describe('Element of the step; several matches are an error');

const frame = z
  .array(z.union([z.int().min(0).max(99), text]))
  .max(5)
  .default([])
  .describe(
    'Frames that contain the target, from the outermost: each by its index among its siblings, from 0, or by CSS of its element. Empty for the page itself',
  );
/** Frame of a target */
export interface FramedStep {
  readonly frame: z.output<typeof frame>;
}

const read = z.enum(['text', 'value', 'count', 'url', 'title']);

const Goto = z.strictObject({
  action: z.literal('goto'),
  name,
  url: z.string().min(1).max(4096),
  assertions: assertions.describe(
    'Assertions on the response status, the duration, and web vitals after the page is loaded. Without one on the status, it must be below 400',
  ),
});
const Click = z.strictObject({
  action: z.literal('click'),
  name,
  within,
  target,
  frame,
  count: z.int().min(1).max(3).default(1).describe('Number of clicks; 2 is a double click'),
});
const Hover = z.strictObject({ action: z.literal('hover'), name, within, target, frame });
const Fill = z.strictObject({
  action: z.literal('fill'),
  name,
  within,
  target,
  frame,
  text: z.string().max(8192),
  host: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[^\s/@?#{}]+$/, 'must be the name of a host')
    .nullable()
    .default(null)
    .describe(
      'Host of the page of the field; `null` for that of the previous `goto`. A secret is only filled in there',
    ),
});
const Choose = z.strictObject({
  action: z.literal('choose'),
  name,
  within,
  target,
  frame,
  option: text.describe('Label or value of the option'),
});
const Press = z.strictObject({
  action: z.literal('press'),
  name,
  within,
  target: target.nullable().default(null).describe('Element; `null` for the focused one'),
  frame,
  key: z
    .string()
    .regex(
      /^(?:(?:Shift|Control|Alt|Meta)\+){0,4}(?:[!-~]|[A-Z][A-Za-z0-9]{1,31})$/,
      'must be a key, such as Enter or Control+A',
    ),
});
const Wait = z.strictObject({
  action: z.literal('wait'),
  name,
  within,
  target: BrowserTarget,
  frame,
  until: z.enum(['visible', 'hidden']).default('visible'),
});
const Expect = z.strictObject({
  action: z.literal('expect'),
  name,
  within,
  target: BrowserTarget.nullable().default(null).describe('Element for `text`, `value` and `count`'),
  frame,
  read,
  operator: z.enum(operators),
  value: z.union([z.string().max(4096), z.number()]).optional(),
  level: z.enum(['fail', 'degrade']).default('fail'),
});
const Extract = z.strictObject({
  action: z.literal('extract'),
  name,
  within,
  target: target.nullable().default(null).describe('Element for `text`, `value` and `count`'),
  frame,
  read,
  pattern: z
    .string()
    .min(1)
    .max(1024)
    .nullable()
    .default(null)
    .describe('RE2 expression, whose first group is the value'),
  as: z.string().regex(templateNamePattern, 'must consist of letters, digits, _ and -'),
  isSecret: isSecretValue,
});

/** A step; each waits until it can be performed. */
export const BrowserStep = z.discriminatedUnion('action', [
  Goto,
  Click,
  Hover,
  Fill,
  Choose,
  Press,
  Wait,
  Expect,
  Extract,
]);
export type BrowserStep = z.output<typeof BrowserStep>;
