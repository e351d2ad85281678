/** Hints for queries of records without results. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { buildListHint } from '../../queries/hints/lists.ts';
import { findMisreadSyntax } from '../../queries/hints/misread-syntax.ts';
import type { Measure, QueryRequest } from '../../queries/query.ts';
import { run } from '../../queries/run.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { listSpans } from '../../queries/traces/spans.ts';
import { logsRequest, messageOf, openTables, receivedAtMs, type Tables, text, tracesRequest } from './sink-tables.ts';

const nanoseconds = (milliseconds: number): string => String(BigInt(milliseconds) * 1_000_000n);
const at = receivedAtMs - 60_000;
const range = { from: BigInt(nanoseconds(at - 60_000)), to: BigInt(nanoseconds(at + 60_000)) };

let tables: Tables;
test.before(async () => {
  tables = await openTables();
  const logs = [
    ['checkout', 'ann'],
    ['checkout', 'Carl'],
    ['cart', 'bob'],
  ].map(([service = '', user = '']) => ({
    resource: { attributes: [text('service.name', service), text('host.name', 'host-0')] },
    scopeLogs: [
      {
        logRecords: [
          {
            timeUnixNano: nanoseconds(at),
            severityNumber: 9,
            severityText: 'INFO',
            body: { stringValue: 'order accepted' },
            attributes: [
              text('user', user),
              text('stage', '\u001b[32mpaid\u001b[0m'),
              { key: 'http.status_code', value: { intValue: '200' } },
            ],
          },
        ],
      },
    ],
  }));
  const spans = {
    resourceSpans: [
      {
        resource: { attributes: [text('service.name', 'checkout')] },
        scopeSpans: [
          {
            spans: [
              {
                traceId: Buffer.alloc(16, 1),
                spanId: Buffer.alloc(8, 1),
                name: 'GET /cart',
                startTimeUnixNano: nanoseconds(at),
                endTimeUnixNano: nanoseconds(at + 5),
                attributes: [text('http.route', '/cart')],
              },
            ],
          },
        ],
      },
    ],
  };
  const messages = {
    logs: messageOf([logsRequest({ resourceLogs: logs })]),
    traces: messageOf([tracesRequest(spans)], { signal: 'traces' }),
  };
  await tables.land([messages.logs], { sink: 'logs' });
  await tables.land([messages.traces], { sink: 'traces' });
});
test.after.always(() => tables.close());

/** Counts the statements that it forwards. */
const createReader = (statements: string[] = []): TenantReader => {
  const columns = tables.columns.forTenant('acme');
  const query: typeof columns.query = (sql, parameters, limits) => {
    statements.push(sql);
    return columns.query(sql, parameters, limits);
  };
  return {
    columns: { ...columns, query },
    plan: { name: 'all', entitlements: ['logs', 'traces'], retentionDays: { logs: 30, metrics: 30, traces: 30 } },
    nowMs: receivedAtMs,
  } as TenantReader;
};

const count: Measure[] = [{ function: 'count' }];
const queryHint = async (query: object): Promise<string | undefined> =>
  (
    await run({ kind: 'aggregate', signal: 'logs', measures: count, ...query } as QueryRequest, createReader(), {
      range,
    })
  ).hint;
const list = async (query: object, signal: 'logs' | 'traces' = 'logs'): Promise<string | undefined> => {
  const span = { from: String(at - 60_000), to: String(at + 60_000) };
  return (await buildListHint(signal, { ...span, ...query }, [], createReader())).hint;
};

test('a search with operators of another language returns a hint with our syntax', (t) => {
  const hints = {
    'service=checkout': /^service=checkout is searched as words: .* service:checkout$/,
    'status=error': /status:error$/,
    'service != checkout': /^!= is not an operator between spaces: write NOT service:checkout$/,
    'took > 40': /write took:>40$/,
    'took >= 40': /write took:>=40$/,
    'error or warn': /^"or" is searched as a word: operators are in capitals, OR$/,
    "service:'checkout'": /^single quotes are part of a value: write service:"…"/,
    '{app="x"} |= "err"': /app:x$/,
    'service=~"check.*"': /service:\/check\.\*\/$/,
    '(service="check out")': /service:"check out"$/,
    '(took > 40)': /write took:>40$/,
  };
  for (const [search, hint] of Object.entries(hints)) t.regex(findMisreadSyntax(search) ?? '', hint, search);
  for (const search of [
    '',
    'service:checkout',
    '"a = b"',
    'a OR b',
    'took:>40',
    '/a=b/',
    'error -user:ann',
    '"x or y"',
  ])
    t.is(findMisreadSyntax(search), undefined, search);
});

test('a name that no record has returns a hint with similar names', async (t) => {
  t.is(
    await queryHint({ search: 'http.status:500' }),
    'none of the log records of this range has http.status; similar names: http.status_code; to search the text, quote it: "http.status:500"',
  );
  t.is(await list({ search: 'attribute.zzzzzz:1' }), 'none of the log records of this range has attribute.zzzzzz');
  for (const text of ['foo:1', 'localhost:8080', 'sha256:0a1b2c', 'arn:aws:s3:::bucket', 'ERROR:root:failed'])
    t.true((await queryHint({ search: text }))?.endsWith(`; to search the text, quote it: "${text}"`), text);
  t.regex((await queryHint({ search: 'user.id:u-3' })) ?? '', /; to search the text, quote it: "user.id:u-3"$/);
  t.regex((await queryHint({ groupBy: ['hots'] })) ?? '', /has hots; similar names: host.name/);
  t.regex((await queryHint({ groupBy: ['host'] })) ?? '', /has host; similar names: host.name$/);
  t.regex((await queryHint({ measures: [{ function: 'avg', field: 'took' }] })) ?? '', /has took$/);
  t.regex(
    (await list({ search: 'http.routee:x' }, 'traces')) ?? '',
    /^none of the spans .* http.route; to search the text/,
  );
  const rows: QueryRequest = { kind: 'rows', signal: 'logs', fields: ['service', 'usr'] };
  t.regex((await run(rows, createReader(), { range })).hint ?? '', /has usr; similar names: user$/);
});

test('a value with different case or spelling returns a hint with existing values', async (t) => {
  t.regex((await list({ service: 'Checkout' })) ?? '', /has service "Checkout"; it exists as "checkout"/);
  t.regex((await queryHint({ search: 'user:carl' })) ?? '', /it exists as "Carl", and values are case-sensitive$/);
  t.regex((await queryHint({ search: 'service:chekout' })) ?? '', /similar values: "checkout"$/);
  t.regex(
    (await queryHint({ search: 'stage:paid' })) ?? '',
    /has stage "paid"; records have it with ANSI escape sequences, such as colors: search for stage:\*paid\*$/,
  );
  t.regex((await list({ service: 'payments' }, 'traces')) ?? '', /it has values such as "checkout"$/);
  t.regex(
    (await queryHint({ search: 'severity:critical' })) ?? '',
    /has severity "critical"; it has values such as "INFO"$/,
  );
  t.is(await queryHint({ search: 'user:ann service:cart' }), undefined, 'each word occurs separately');
  t.is(await queryHint({ search: 'nowhere' }), undefined);
});

test('words missing from existing records take one statement to detect, and none again within a minute', async (t) => {
  const statements: string[] = [];
  const span = { from: String(at - 50_000), to: String(at + 50_000), search: 'nowhere at all', projectId: 'shop' };
  for (let count = 0; count < 3; count++)
    t.deepEqual(await buildListHint('logs', span, [], createReader(statements)), {}, 'there is nothing to say');
  t.is(statements.length, 1);
  const empty = { ...span, projectId: 'nope' };
  const counts: number[] = [];
  for (let count = 0; count < 2; count++) {
    statements.length = 0;
    t.regex(
      (await buildListHint('logs', empty, [], createReader(statements))).hint ?? '',
      /^project nope has no log records/,
    );
    counts.push(statements.length);
  }
  t.deepEqual(counts, [2, 2], 'records that come are seen at once');
});

test('a range and a project without records are reported as such', async (t) => {
  const empty = { from: String(at - 7_200_000), to: String(at - 3_700_000) };
  t.is(await list(empty), 'there are no log records in this range: choose another time range');
  t.is(
    await queryHint({ projectId: 'nope' }),
    'project nope has no log records in this range; projects that have some: shop',
  );
});

test('an aggregate of a field that is not a number is reported as such', async (t) => {
  t.is(
    await queryHint({ measures: [{ function: 'count' }, { function: 'avg', field: 'body' }] }),
    'no value of body in the results is a number',
  );
});

test('a result with data for every part of the query runs no statement for a hint', async (t) => {
  const statements = async (query: object, stepMs?: number): Promise<number> => {
    const statements: string[] = [];
    const options = { range, ...(stepMs === undefined ? {} : { stepMs }) };
    await run(
      { kind: 'aggregate', signal: 'logs', measures: count, ...query } as QueryRequest,
      createReader(statements),
      options,
    );
    return statements.filter((sql) => /FROM fields|LIMIT 100000/.test(sql)).length;
  };
  t.is(await statements({ search: 'service:checkout', groupBy: ['user'] }), 0);
  t.is(await statements({ groupBy: ['user'] }, 60_000), 0);
  t.is(await statements({ measures: [{ function: 'count', search: 'severity:error' }] }), 0, 'none is an answer too');
  const spans: string[] = [];
  const page = await listSpans({ limit: 10, order: 'newest' } as never, createReader(spans));
  await buildListHint('traces', {}, page.items.length === 0 ? [1] : page.items, createReader(spans));
  t.is(spans.filter((sql) => sql.includes('FROM fields')).length, 0);
  const counts = (
    await Promise.all(
      ['a:1 b:2 c:3 d:4', 'user:w service:x host.name:y body:z'].map((search) => statements({ search })),
    )
  ).sort();
  t.true((counts.at(-1) ?? 0) <= 4, 'and few where nothing was found');
});
