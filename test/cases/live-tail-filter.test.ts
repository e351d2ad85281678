/** Which records the filter of a live tail lets through, and which filters are refused. */
import test from 'ava';
import fc from 'fast-check';
import { type AskedFilter, filterOf } from '../../queries/live-tail/filter.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import type { Span } from '../../schemas/records/span.ts';
import { bodyHasAllWords, hasAllWords } from '../../schemas/tables/search.ts';
import { logsOf, spansOf } from '../contract/live-tail-harness.ts';
import { openTables } from './sink-tables.ts';

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

const [record] = logRecords.decode(
  { ...bus, ...logsOf([log], sent), value: Buffer.from(logsOf([log], sent).value) },
  from,
);
const [one] = spans.decode({ ...bus, ...spansOf([span], sent), value: Buffer.from(spansOf([span], sent).value) }, from);

const ofLogs: readonly [Partial<AskedFilter>, boolean][] = [
  [{}, true],
  [{ service: 'shop' }, true],
  [{ service: 'Shop' }, false],
  [{ severity: 'warn' }, true],
  [{ severity: 'WARN' }, true],
  [{ severity: '14' }, true],
  [{ severity: '15' }, false],
  [{ severity: 'error' }, false],
  [{ search: 'failed payment' }, true],
  [{ search: 'PAYMENT, "order"' }, true],
  [{ search: 'pay' }, false],
  [{ search: 'order 3133' }, false],
  [{ search: '!!' }, false],
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

for (const [asked, expected] of ofLogs)
  test(`a log record and ${JSON.stringify(asked)}: ${expected}`, (t) => {
    const filter = filterOf({ signal: 'logs', ...asked });
    t.is(filter.signal === 'logs' && filter.wanted(record as LogRecord), expected);
  });

const ofSpans: readonly [Partial<AskedFilter>, boolean][] = [
  [{ search: 'get cart' }, true],
  [{ search: 'select shop' }, true],
  [{ search: 'post' }, false],
  [{ attribute: 'status=error' }, true],
  [{ attribute: 'status=ok' }, false],
  [{ attribute: 'kind=server' }, true],
];

for (const [asked, expected] of ofSpans)
  test(`a span and ${JSON.stringify(asked)}: ${expected}`, (t) => {
    const filter = filterOf({ signal: 'spans', ...asked });
    t.is(filter.signal === 'spans' && filter.wanted(one as Span), expected);
  });

test('a severity that is none, and one of spans, are refused', (t) => {
  for (const severity of ['loud', '0', '25', '-1', ''])
    t.throws(() => filterOf({ signal: 'logs', severity }), { name: 'QueryError' }, severity);
  t.throws(() => filterOf({ signal: 'spans', severity: 'warn' }), { name: 'QueryError' });
});

test('words are found in a record on the bus where the engine finds them in one that landed', async (t) => {
  const tables = await openTables();
  t.teardown(() => tables.close());
  const characters = fc.constantFrom('a', 'B', 'ß', 'É', '漢', '9', ' ', '_', '-', '.', '\n', '😀');
  const words = fc.string({ unit: characters, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(words, { minLength: 20, maxLength: 20 }), words, async (bodies, search) => {
      const rows = await tables.read<{ found: number }>(
        `SELECT toUInt8(${bodyHasAllWords(search)}) AS found FROM (SELECT arrayJoin([${bodies.map((body) => `unhex('${Buffer.from(body).toString('hex')}')`).join(', ')}]) AS body)`,
      );
      t.deepEqual(
        bodies.map(hasAllWords(search)),
        rows.map(({ found }) => found === 1),
        search,
      );
    }),
    { numRuns: 200 },
  );
});
