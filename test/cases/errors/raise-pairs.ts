/** Runs the records of pairs through the error processors. */
import { logErrors } from '../../../processors/errors/log-errors.ts';
import { spanErrors } from '../../../processors/errors/span-errors.ts';
import type { RaisedError } from '../../../schemas/error-occurrences.ts';
import { topics } from '../../../schemas/topics.ts';
import { firstMs, TaskRun } from '../run-task.ts';
import type { Sent } from './sent.ts';

const toValue = (value: unknown): object => {
  if (typeof value === 'number') return { intValue: String(value) };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toValue) } };
  if (typeof value !== 'object' || value === null) return { stringValue: String(value) };
  return { kvlistValue: { values: toAttributes(value as Readonly<Record<string, unknown>>) } };
};
const toAttributes = (values: Readonly<Record<string, unknown>>): object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: toValue(value) }));

const time = `${firstMs}000000`;

/** Returns the error of a record, as its processor raises it. */
export const raise = ({ body = '', attributes = {}, event, service = 'cart' }: Sent): RaisedError | undefined => {
  const resource = { 'service.name': service };
  const run = new TaskRun(event === undefined ? logErrors : spanErrors);
  if (event === undefined)
    run.logs(
      [{ timeUnixNano: time, severityNumber: 17, body: toValue(body), attributes: toAttributes(attributes) }],
      resource,
    );
  else
    run.spans(
      [
        {
          traceId: Buffer.alloc(16, 1),
          spanId: Buffer.alloc(8, 1),
          name: 'GET /cart',
          startTimeUnixNano: time,
          endTimeUnixNano: time,
          status: { code: 2 },
          events: [{ name: 'exception', timeUnixNano: time, attributes: toAttributes(event) }],
        },
      ],
      resource,
    );
  return run.emitted<RaisedError>(topics.raisedErrors)[0];
};

export const toFingerprint = (sent: Sent): string => raise(sent)?.fingerprint ?? '';

/** Returns the half of a pair: the rules were tuned on even pairs only. */
export const halfOf = (title: string): 'even' | 'odd' => {
  let hash = 7;
  for (const character of title) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return (hash >>> 7) % 2 === 0 ? 'even' : 'odd';
};
