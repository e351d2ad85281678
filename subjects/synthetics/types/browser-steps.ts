/** Steps of a browser, as data. Nothing that users write runs in it. */
import { z } from 'zod';
import { duration } from '../../alerts/durations.ts';
import { operators } from '../assertions.ts';
import { templateName } from '../templates.ts';
import { assertions } from './socket-settings.ts';

const name = z.string().max(256).default('');
const within = duration('100ms', '1m').default('5s').describe('How long it is waited for');
const text = z.string().min(1).max(1024);

/** Elements of the page, by what people or tests find them by. */
export const BrowserTarget = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('role'),
    role: z.string().regex(/^[a-z]{1,32}$/, 'must be a role, such as button'),
    name: text.nullable().default(null).describe('Its accessible name'),
  }),
  z.strictObject({ by: z.literal('label'), label: text }),
  z.strictObject({ by: z.literal('text'), text }),
  z.strictObject({ by: z.literal('testId'), testId: text.describe('Of the attribute data-testid') }),
  z.strictObject({ by: z.literal('css'), css: text }),
]);
export type BrowserTarget = z.output<typeof BrowserTarget>;

const target = BrowserTarget.describe('The one element that it finds; several are an error');

const read = z.enum(['text', 'value', 'count', 'url', 'title']);

const Goto = z.strictObject({
  ...{ action: z.literal('goto'), name },
  url: z.string().min(1).max(4096),
  assertions: assertions.describe(
    'Of the answer’s status, of the duration, and of web vitals when the page is loaded. Without one of the status, it must be below 400',
  ),
});
const Click = z.strictObject({ ...{ action: z.literal('click'), name, within }, target });
const Fill = z.strictObject({
  ...{ action: z.literal('fill'), name, within },
  target,
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
  ...{ action: z.literal('choose'), name, within },
  target,
  option: text.describe('Label or value'),
});
const Press = z.strictObject({
  ...{ action: z.literal('press'), name, within },
  target: target.nullable().default(null).describe('Null: what has the focus'),
  key: z
    .string()
    .regex(
      /^(?:(?:Shift|Control|Alt|Meta)\+){0,4}(?:[!-~]|[A-Z][A-Za-z0-9]{1,31})$/,
      'must be a key, such as Enter or Control+A',
    ),
});
const Wait = z.strictObject({
  ...{ action: z.literal('wait'), name, within },
  target: BrowserTarget,
  until: z.enum(['visible', 'hidden']).default('visible'),
});
const Expect = z.strictObject({
  ...{ action: z.literal('expect'), name, within },
  target: BrowserTarget.nullable().default(null).describe('Of text, value and count'),
  read,
  operator: z.enum(operators),
  value: z.union([z.string().max(4096), z.number()]).optional(),
  level: z.enum(['fail', 'degrade']).default('fail'),
});
const Extract = z.strictObject({
  ...{ action: z.literal('extract'), name, within },
  target: target.nullable().default(null).describe('Of text, value and count'),
  read,
  pattern: z.string().min(1).max(1024).nullable().default(null).describe('RE2, whose first group counts'),
  as: z.string().regex(templateName, 'must be a name of letters, digits, _ and -'),
});

/** One step. Each waits until it can be done. */
export const BrowserStep = z.discriminatedUnion('action', [Goto, Click, Fill, Choose, Press, Wait, Expect, Extract]);
export type BrowserStep = z.output<typeof BrowserStep>;
