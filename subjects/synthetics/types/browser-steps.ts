/** Steps of a browser, as data. Nothing that users write runs in it. */
import { z } from 'zod';
import { duration } from '../../alerts/durations.ts';
import { operators } from '../assertions.ts';
import { templateName } from '../templates.ts';
import { assertions } from './socket-settings.ts';

const name = z.string().max(256).default('');
const within = duration('100ms', '1m').default('5s').describe('How long it is waited for');
const text = z.string().min(1).max(1024);

const exact = z.boolean().default(false).describe('The whole of it, in the same capitals; else a part is enough');

/** Elements of the page, by what people or tests find them by. */
export const BrowserTarget = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('role'),
    role: z.string().regex(/^[a-z]{1,32}$/, 'must be a role, such as button'),
    name: text.nullable().default(null).describe('Its accessible name'),
    exact,
  }),
  z.strictObject({ by: z.literal('label'), label: text, exact }),
  z.strictObject({ by: z.literal('text'), text, exact }),
  z.strictObject({ by: z.literal('testId'), testId: text.describe('Of the attribute data-testid') }),
  z.strictObject({ by: z.literal('css'), css: text }),
]);
export type BrowserTarget = z.output<typeof BrowserTarget>;

const target = BrowserTarget.describe('The one element that it finds; several are an error');

const frame = z
  .array(z.union([z.int().min(0).max(99), text]))
  .max(5)
  .default([])
  .describe(
    'The frames to the target, from the outermost: each by its place among the frames around it, from 0, or by CSS of its element. Empty: the page itself',
  );
/** Where a target is. */
export interface Framed {
  readonly frame: z.output<typeof frame>;
}

const read = z.enum(['text', 'value', 'count', 'url', 'title']);

const Goto = z.strictObject({
  action: z.literal('goto'),
  name,
  url: z.string().min(1).max(4096),
  assertions: assertions.describe(
    'Of the answer’s status, of the duration, and of web vitals when the page is loaded. Without one of the status, it must be below 400',
  ),
});
const Click = z.strictObject({
  action: z.literal('click'),
  name,
  within,
  target,
  frame,
  count: z.int().min(1).max(3).default(1).describe('2 is a double click'),
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
    .describe('Of the page that it is on; null: that of the goto before it. A secret is filled in nowhere else'),
});
const Choose = z.strictObject({
  action: z.literal('choose'),
  name,
  within,
  target,
  frame,
  option: text.describe('Label or value'),
});
const Press = z.strictObject({
  action: z.literal('press'),
  name,
  within,
  target: target.nullable().default(null).describe('Null: what has the focus'),
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
  target: BrowserTarget.nullable().default(null).describe('Of text, value and count'),
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
  target: target.nullable().default(null).describe('Of text, value and count'),
  frame,
  read,
  pattern: z.string().min(1).max(1024).nullable().default(null).describe('RE2, whose first group counts'),
  as: z.string().regex(templateName, 'must be a name of letters, digits, _ and -'),
});

/** One step. Each waits until it can be done. */
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
