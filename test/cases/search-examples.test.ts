/** All examples of the search reference in both back ends, and rejected searches. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { QueryError } from '../../queries/errors.ts';
import { buildSearchCondition } from '../../queries/search/condition.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import { searchLimits } from '../../queries/search/parser.ts';
import { buildSearchPredicate } from '../../queries/search/predicate.ts';
import type { SearchSignal } from '../../queries/signals/index.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { iterateItems, type Source } from '../../schemas/records/source.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import type { ScanMessage } from '../../sinks/scan/scanner.ts';
import { logsRequest, messageOf, openTables, type Tables, text, tracesRequest } from './sink-tables.ts';

const page = readFileSync(new URL('../../docs/reference/search-language.md', import.meta.url), 'utf8');

/** Rows of the tables under this heading, without code marks. */
const rowsUnder = (heading: string): (readonly [string, string])[] =>
  page
    .split('\n\n')
    .filter((part) => part.startsWith(heading))
    .flatMap((part) => part.split('\n').slice(2))
    .map((row) => {
      const [, search = '', answer = ''] = /^\| `(.*?)` \| ?(.*?) ?\|$/.exec(row) ?? [];
      return [search.replaceAll('\\|', '|'), answer] as const;
    });

const number = (key: string, value: object): object => ({ key, value });
const pod = (service: string, name: string): object => ({
  attributes: [text('service.name', service), text('k8s.pod.name', name)],
});
const at = (ms: number): string => String(1_772_359_200_000_000_000n + BigInt(ms) * 1_000_000n);
const logs = logsRequest({
  resourceLogs: [
    {
      resource: pod('cart', 'cart-7'),
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: at(1),
              severityNumber: 17,
              severityText: 'ERROR',
              body: { stringValue: 'Payment failed: order-42' },
              attributes: [number('http.status_code', { intValue: '500' }), text('user', 'ann')],
            },
            {
              timeUnixNano: at(2),
              severityNumber: 9,
              severityText: 'INFO',
              body: { stringValue: 'payment accepted (order 43)' },
              attributes: [number('http.status_code', { intValue: '200' }), number('took', { doubleValue: 12.5 })],
            },
          ],
        },
      ],
    },
    {
      resource: pod('web', 'web-1'),
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: at(3),
              severityText: 'Warning',
              body: { stringValue: 'GET /api/users/ann' },
              attributes: [text('user', ''), number('retry', { boolValue: true })],
            },
          ],
        },
      ],
    },
  ],
});
const lasts = (ms: number): object => ({ startTimeUnixNano: at(0), endTimeUnixNano: at(ms) });
const traces = tracesRequest({
  resourceSpans: [
    {
      resource: pod('web', 'web-1'),
      scopeSpans: [
        {
          spans: [
            {
              name: 'GET /cart',
              kind: 2,
              status: { code: 2 },
              ...lasts(250),
              attributes: [text('http.route', '/cart/{id}')],
              events: [{ name: 'exception', attributes: [text('exception.type', 'OutOfStock')] }],
            },
          ],
        },
      ],
    },
    {
      resource: pod('shop', 'shop-1'),
      scopeSpans: [
        {
          spans: [
            {
              name: 'SELECT cart',
              kind: 3,
              ...lasts(40),
              attributes: [text('db.system.name', 'mysql')],
              links: [{ attributes: [number('batch', { intValue: '7' })] }],
            },
          ],
        },
      ],
    },
  ],
});

const tenant = 'examples';
const messages: Readonly<Record<SearchSignal, ScanMessage>> = {
  logs: messageOf([logs], { tenantId: tenant, signal: 'logs' }),
  traces: messageOf([traces], { tenantId: tenant, signal: 'traces' }),
};
const sources: Readonly<Record<SearchSignal, Source<RecordView>>> = { logs: logRecords, traces: spans };

let tables: Tables;
test.before(async () => {
  tables = await openTables();
  for (const signal of ['logs', 'traces'] as const) await tables.land([messages[signal]], { sink: signal });
});
test.after.always(() => tables.close());

const byPredicate = (search: string, signal: SearchSignal): string => {
  const isFound = buildSearchPredicate(search, signal) as (record: RecordView) => boolean;
  const { value, ...message } = messages[signal];
  const read = iterateItems(
    sources[signal],
    { ...message, key: '', value: Buffer.from(value) },
    { topic: 'any', partition: 0 },
  );
  return Array.from(read, (record) => (isFound(record) ? String(record.ordinal + 1) : ''))
    .filter(Boolean)
    .join(', ');
};

const bySql = async (search: string, signal: SearchSignal): Promise<string> => {
  const columns = tables.columns.forTenant(tenant);
  const { sql, parameters } = buildSearchCondition(parseSearch(search, signal), signal);
  const rows = await columns.query<{ ordinal: number }>(
    `SELECT ordinal FROM ${signal === 'logs' ? 'logs' : 'spans'} WHERE tenant_id = {tenant:String} AND ${sql} ORDER BY ordinal`,
    parameters,
  );
  return rows.map(({ ordinal }) => ordinal + 1).join(', ');
};

for (const [signal, heading] of [
  ['logs', '| search of logs | finds'],
  ['traces', '| search of spans | finds'],
] as const)
  for (const [search, expected] of rowsUnder(heading))
    test(`${search} of ${signal} finds ${expected || 'nothing'}`, async (t) => {
      t.is(byPredicate(search, signal), expected);
      t.is(await bySql(search, signal), expected);
    });

for (const [signal, heading] of [
  ['logs', '| search of logs | finds'],
  ['traces', '| search of spans | finds'],
] as const)
  test(`conditions on ${signal} report whether an index supports them, and whether they have a subquery`, (t) => {
    const conditions = rowsUnder(heading).map(([search = '']) =>
      buildSearchCondition(parseSearch(search, signal), signal),
    );
    for (const { sql, usesIndex, hasSubquery } of conditions) {
      t.is(usesIndex, sql.includes('indexHint('), sql);
      t.is(hasSubquery, sql.includes('(SELECT '), sql);
    }
    for (const isIt of [true, false]) {
      t.true(conditions.some(({ usesIndex }) => usesIndex === isIt));
      t.true(conditions.some(({ hasSubquery }) => hasSubquery === isIt));
    }
  });

const errorOf = (search: string, path?: string): QueryError | undefined => {
  try {
    parseSearch(search, 'logs', path === undefined ? {} : { path });
    return undefined;
  } catch (error) {
    return error as QueryError;
  }
};

const refused = rowsUnder('| search of logs | error');
for (const [search, expected] of refused)
  test(`${search} is rejected: ${expected}`, (t) => {
    const error = errorOf(search);
    t.true(error instanceof QueryError);
    t.is(error?.code, 'VALIDATION_FAILED');
    t.is(error?.path, 'search');
    t.is(error?.message, expected);
  });

test('the page has examples', (t) => {
  t.true(rowsUnder('| search of logs | finds').length > 40);
  t.true(refused.length > 10);
  t.false([...rowsUnder('| search of'), ...refused].some(([search]) => search === ''));
});

const limits: readonly (readonly [string, string, string])[] = [
  ['characters', 'x'.repeat(searchLimits.characters + 1), 'must have at most 4096 characters'],
  ['levels', `${'('.repeat(51)}x${')'.repeat(51)}`, 'column 51: expected at most 50 levels of parentheses and NOT'],
  ['levels of NOT', `${'NOT '.repeat(51)}x`, 'column 204: expected at most 50 levels of parentheses and NOT'],
  ['conditions', 'a:1 '.repeat(257), 'column 1027: expected at most 256 conditions'],
  ['alternatives', 'a OR '.repeat(257), 'column 1285: expected at most 256 conditions'],
  ['phrases', '"a b" '.repeat(257), 'column 1537: expected at most 256 conditions'],
  ['expressions', '/a/ '.repeat(17), 'column 65: expected at most 16 regular expressions'],
  [
    'instructions of an expression',
    '/(ab|cd|e){500}/',
    'column 1: expected a regular expression of RE2: too large, repeat less',
  ],
  [
    'instructions of classes',
    '/(\\pL{30}){30}/',
    'column 1: expected a regular expression of RE2: too large, repeat less',
  ],
  ['NUL', 'a\0b', 'must be Unicode without NUL'],
  ['halves of pairs', 'a\ud800', 'must be Unicode without NUL'],
];
for (const [what, search, message] of limits)
  test(`a search has a limited number of ${what}`, (t) => {
    t.is(errorOf(search)?.message, message);
  });

test('the number of plain words is limited only by their length', async (t) => {
  t.is(await bySql('payment failed '.repeat(273), 'logs'), '1');
});

test('an error has the path of its parameter', (t) => {
  t.is(errorOf('(', 'queries.0.search')?.path, 'queries.0.search');
});

test('pasted text is a search for its words', (t) => {
  for (const pasted of [
    'java.lang.NullPointerException: no cart at main() [thread 7]',
    'GET https://a.example/cart?id=7&x=[1] 200',
    '{"level": "error", "n": 1}',
    '12:30:45.123 INFO order-42 ---> done',
    "it's 50% of C:\\Users\\ann; DROP TABLE logs --",
    'a && b || !c',
  ])
    t.notThrows(() => parseSearch(pasted, 'logs'), pasted);
});
