/** Which records the filter of a live tail matches, and which filters are rejected. */
import test from 'ava';
import { buildFilter, type FilterRequest } from '../../queries/live-tail/filter.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { iterateItems } from '../../schemas/records/source.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import type { Span } from '../../schemas/records/span.ts';
import { logsOf, spansOf } from '../contract/live-tail-harness.ts';

const bus = { offset: 0, timestampMs: 0 };
const from = { topic: 'any', partition: 0 };
const sent = { tenantId: 'a', service: 'shop' };

const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
const log = {
  severityNumber: 14,
  body: { stringValue: 'Payment of order 31337 FAILED' },
  attributes: [text('http.route', '/cart'), { key: 'retries', value: { intValue: 3 } }, text('empty', '')],
  traceId: Buffer.alloc(16, 0xab),
};
const span = {
  name: 'GET /cart',
  kind: 2,
  status: { code: 2 },
  startTimeUnixNano: '1',
  attributes: [text('db.statement', 'SELECT total')],
};

const [record] = iterateItems(
  logRecords,
  { ...bus, ...logsOf([log], sent), value: Buffer.from(logsOf([log], sent).value) },
  from,
);
const [one] = iterateItems(
  spans,
  { ...bus, ...spansOf([span], sent), value: Buffer.from(spansOf([span], sent).value) },
  from,
);

const ofLogs: readonly [Partial<FilterRequest>, boolean][] = [
  [{}, true],
  [{ service: 'shop' }, true],
  [{ service: 'Shop' }, false],
  [{ severity: 'warn' }, true],
  [{ severity: 'WARN' }, true],
  [{ severity: '14' }, true],
  [{ severity: '15' }, false],
  [{ severity: 'error' }, false],
  [{ search: 'failed payment' }, true],
  [{ search: 'PAYMENT "order"' }, true],
  [{ search: 'payment, order' }, false],
  [{ search: 'pay' }, false],
  [{ search: 'order 3133' }, false],
  [{ search: '!!' }, false],
  [{ search: 'severity:>=warn retries:<5 NOT accepted' }, true],
  [{ search: 'severity:>=error' }, false],
  [{ attribute: 'http.route=/cart' }, true],
  [{ attribute: 'http.route=/' }, false],
  [{ attribute: 'retries=3' }, true],
  [{ attribute: ['http.route=/cart', 'retries=4'] }, false],
  [{ attribute: 'service.name=shop' }, true],
  [{ attribute: 'resource.service.name=shop' }, true],
  [{ attribute: `traceId=${'ab'.repeat(16)}` }, true],
  [{ attribute: 'level=WARN2' }, true],
  [{ attribute: 'empty=' }, true],
  [{ attribute: 'missing=' }, false],
];

for (const [input, expected] of ofLogs)
  test(`a log record and ${JSON.stringify(input)}: ${expected}`, (t) => {
    const filter = buildFilter({ signal: 'logs', ...input });
    t.is(filter.signal === 'logs' && filter.matches(record as LogRecord), expected);
  });

const ofSpans: readonly [Partial<FilterRequest>, boolean][] = [
  [{ search: 'get cart' }, true],
  [{ search: 'select shop' }, true],
  [{ search: 'post' }, false],
  [{ attribute: 'status=error' }, true],
  [{ attribute: 'status=ok' }, false],
  [{ attribute: 'kind=server' }, true],
];

for (const [input, expected] of ofSpans)
  test(`a span and ${JSON.stringify(input)}: ${expected}`, (t) => {
    const filter = buildFilter({ signal: 'spans', ...input });
    t.is(filter.signal === 'spans' && filter.matches(one as Span), expected);
  });

test('an invalid search is rejected', (t) => {
  for (const signal of ['logs', 'spans'] as const)
    t.throws(() => buildFilter({ signal, search: '(failed' }), { name: 'QueryError', message: /^column 1: / });
});

test('an unknown severity, and a severity for spans, are rejected', (t) => {
  for (const severity of ['loud', '0', '25', '-1', ''])
    t.throws(() => buildFilter({ signal: 'logs', severity }), { name: 'QueryError' }, severity);
  t.throws(() => buildFilter({ signal: 'spans', severity: 'warn' }), { name: 'QueryError' });
});
