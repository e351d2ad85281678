/** Reads of logs through the API, over records stored as by the sinks. Expected figures are computed by hand. */
import test from 'ava';
import { text } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landLogs, type SentLog } from './landed-logs.ts';

let harness: Harness;
const second = 1_000_000_000n;
/** The start of an hour, some hours ago. */
const hourMs = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 4 * 3_600_000;
const base = BigInt(hourMs) * 1_000_000n;
const at = (seconds: number, nanoseconds = 0): bigint => base + BigInt(seconds) * second + BigInt(nanoseconds);
const iso = (seconds: number): string => new Date(hourMs + seconds * 1000).toISOString();
const range = `from=${iso(0)}&to=${iso(3599)}`;
const canary = 'canary-of-b';

const int = (key: string, intValue: number | string): object => ({ key, value: { intValue: String(intValue) } });
const double = (key: string, doubleValue: number): object => ({ key, value: { doubleValue } });

const routeOf = (index: number): string => (index < 3 ? '/a' : index < 15 ? '/b' : '/c');

/** 60 records, one per minute: three routes, `took` from 0 to 59; every third value is a string. */
const minutes: readonly SentLog[] = Array.from({ length: 60 }, (_, index) => ({
  timeNs: at(index * 60, index),
  body: `request ${index} ${index % 10 === 0 ? 'failed' : 'served'}`,
  service: index % 4 === 0 ? 'shop' : 'web',
  pod: index % 4 === 0 ? 'shop-1' : 'web-1',
  severity: index % 10 === 0 ? 17 : 9,
  attributes: [
    text('http.route', routeOf(index)),
    index % 3 === 0 ? text('took', String(index)) : int('took', index),
    ...(index < 30 ? [text('with, comma "and" (more)', `v${index % 2}`)] : []),
  ],
}));

/** Eleven records of one stream in the same nanosecond, in several messages. */
const same = at(7000, 5);
const tick = (body: string, more: Partial<SentLog> = {}): SentLog => ({
  timeNs: same,
  body,
  service: 'tick',
  pod: 't',
  ...more,
});

test.before(async () => {
  harness = await startHarness({ projects: ['p2'] });
  await landLogs(harness, minutes.slice(0, 40), { offset: 1 });
  await landLogs(harness, minutes.slice(40), { offset: 2, projectId: 'p2' });
  const ticks = Array.from({ length: 11 }, (_, index) => tick(`tick ${index}`));
  await landLogs(harness, ticks.slice(0, 5), { offset: 3 });
  await landLogs(harness, ticks.slice(5), { offset: 4 });
  await landLogs(
    harness,
    [
      tick('first', { timeNs: same - 3000n * second }),
      tick('before', { timeNs: same - 1n }),
      tick('after', { timeNs: same + 1n }),
      tick('last', { timeNs: same + 3000n * second }),
      tick('of another pod', { pod: 'u' }),
      tick('of another scope', { scope: 'x' }),
    ],
    { offset: 5 },
  );
  await landLogs(harness, [tick('of another project')], { offset: 6, projectId: 'p2' });
  await landLogs(
    harness,
    [
      {
        timeNs: at(10),
        body: canary,
        service: canary,
        pod: canary,
        attributes: [text(canary, canary), text('took', canary)],
      },
      tick(canary),
    ],
    { offset: 7, tenantId: 'b' },
  );
});
test.after.always(() => harness?.close());

const fetchJson = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
  const { status, body, headers: answered } = await harness.request('GET', path, { as: 'viewer', headers });
  if (JSON.stringify(body).includes(canary)) throw new Error(`${path} returns data of another organization`);
  return { status, body, headers: answered };
};
const get = async (path: string) => {
  const { status, body } = await fetchJson(path);
  if (status !== 200) throw new Error(`${path} returned ${status} ${JSON.stringify(body)}`);
  return body;
};
const messageOf = async (path: string): Promise<string> => {
  const { status, body } = await fetchJson(path);
  return `${status} ${body.details?.[0]?.path}: ${body.details?.[0]?.message}`;
};
const bodiesOf = (items: readonly { readonly body: string }[]): string[] => items.map(({ body }) => body);

test('logs are listed in both orders, and pages of each neither skip nor repeat a record', async (t) => {
  const tickRange = `from=${iso(3600)}&to=${iso(10_800)}&search=tick`;
  const newest = (await get(`/api/logs?${tickRange}`)).items.map(({ id }: { id: string }) => id);
  t.is(newest.length, 11);
  t.deepEqual(
    (await get(`/api/logs?${tickRange}&order=oldest`)).items.map(({ id }: { id: string }) => id),
    newest.toReversed(),
  );
  for (const order of ['newest', 'oldest']) {
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await get(`/api/logs?${tickRange}&order=${order}&limit=3&cursor=${cursor}`);
      seen.push(...page.items.map(({ id }: { id: string }) => id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    t.deepEqual(seen, order === 'newest' ? newest : newest.toReversed());
  }
});

test('pages of both orders contain each record once while others are stored', async (t) => {
  const from = at(20_000 - 86_400);
  const nanosecond = (index: number): SentLog => ({
    timeNs: from + BigInt(index % 7),
    body: `paged ${index}`,
    service: 'paged',
  });
  let offset = 1000;
  const write = (count: number): Promise<void> =>
    landLogs(
      harness,
      Array.from({ length: count }, (_, index) => nanosecond(offset * 50 + index)),
      { offset: ++offset },
    );
  await write(40);
  const within = `from=${new Date(Number(from / 1_000_000n)).toISOString()}&to=now&service=paged`;
  const existing = new Set<string>(
    (await get(`/api/logs?${within}&limit=1000`)).items.map(({ id }: { id: string }) => id),
  );
  t.is(existing.size, 40);
  for (const order of ['newest', 'oldest']) {
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await get(`/api/logs?${within}&order=${order}&limit=7&cursor=${cursor}`);
      seen.push(...page.items.map(({ id }: { id: string }) => id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
      if (seen.length < 60) await write(5);
    }
    t.is(new Set(seen).size, seen.length, order);
    t.deepEqual(
      [...existing].filter((id) => !seen.includes(id)),
      [],
      order,
    );
  }
});

test('a cursor of one order is invalid for the other', async (t) => {
  const { nextCursor } = await get(`/api/logs?${range}&limit=1`);
  t.is(await messageOf(`/api/logs?order=oldest&cursor=${nextCursor}`), '400 cursor: is not a cursor of this list');
});

test('only the selected fields are returned, each as it was sent', async (t) => {
  const fields = encodeURIComponent(
    'timestamp, severity,service,took,k8s.pod.name,"with, comma \\"and\\" (more)",nowhere',
  );
  const { items } = await get(`/api/logs?${range}&limit=2&order=oldest&fields=${fields}`);
  t.deepEqual(
    items.map(({ fields: chosen }: { fields: object }) => chosen),
    [0, 1].map((index) => ({
      timestamp: `${iso(index * 60).slice(0, -5)}.00000000${index}Z`,
      severity: index === 0 ? 'ERROR' : 'INFO',
      service: index === 0 ? 'shop' : 'web',
      took: index === 0 ? '0' : 1,
      'k8s.pod.name': index === 0 ? 'shop-1' : 'web-1',
      'with, comma "and" (more)': `v${index}`,
      nowhere: null,
    })),
  );
});

test('the context of a record is its stream, in list order even within one nanosecond', async (t) => {
  const { items } = await get(`/api/logs?from=${iso(3600)}&to=${iso(10_800)}&search=body:/^tick/&order=oldest`);
  const { id } = items[5];
  const full = await get(`/api/logs/${id}/context`);
  t.is(full.record.body, 'tick 5');
  t.deepEqual(bodiesOf(full.before.items), ['tick 4', 'tick 3', 'tick 2', 'tick 1', 'tick 0', 'before', 'first']);
  t.deepEqual(bodiesOf(full.after.items), ['tick 6', 'tick 7', 'tick 8', 'tick 9', 'tick 10', 'after', 'last']);
  t.true(full.before.isEnd && full.after.isEnd);
  const near = await get(`/api/logs/${id}/context?before=2&after=0`);
  t.deepEqual([near.before.isEnd, near.after.isEnd, near.after.items], [false, false, []]);
  const further = await get(`/api/logs/${id}/context?before=3&cursor=${near.before.nextCursor}`);
  t.deepEqual(bodiesOf(further.before.items), ['tick 2', 'tick 1', 'tick 0']);
  t.is(further.after, null);
  const later = await get(`/api/logs/${id}/context?after=500&cursor=${near.after.nextCursor}`);
  t.deepEqual(bodiesOf(later.after.items), bodiesOf(full.after.items));
  t.is(later.before, null);
});

test('a histogram counts every record once, including empty intervals and the remaining values', async (t) => {
  const plain = await get(`/api/logs/histogram?from=${iso(90)}&to=${iso(3599)}&step=5m`);
  t.is(plain.steps.length, 12);
  t.deepEqual(
    plain.steps.map(({ isPartial }: { isPartial: boolean }) => isPartial),
    [true, ...Array(10).fill(false), true],
  );
  t.is(plain.steps[0].start, `${iso(0).slice(0, -1)}000000Z`);
  t.deepEqual(plain.series, [{ value: '', records: 58, counts: [3, ...Array(11).fill(5)] }]);
  t.is((await get(`/api/logs?from=${iso(90)}&to=${iso(3599)}&limit=1000`)).items.length, plain.records);

  const routes = minutes.map((_log, index) => routeOf(index));
  const countOf = (route: string): number => routes.filter((each) => each === route).length;
  const split = await get(`/api/logs/histogram?${range}&step=10m&groupBy=http.route&limit=1`);
  const [top] = ['/a', '/b', '/c'].sort((one, other) => countOf(other) - countOf(one));
  t.deepEqual(
    split.series.map(({ value, records }: { value: string; records: number }) => [value, records]),
    [[top, countOf(top ?? '')]],
  );
  t.is(split.rest.records, 60 - countOf(top ?? ''));
  t.is(split.records, 60);
  const empty = await get(`/api/logs/histogram?${range}&step=30m&search=nowhere`);
  t.deepEqual([empty.records, empty.series[0].counts], [0, [0, 0]]);
  const bySeverity = await get(`/api/logs/histogram?${range}&step=1h&groupBy=severity&service=shop`);
  const shop = minutes.filter(({ service }) => service === 'shop');
  t.deepEqual(
    bySeverity.series.map(({ value, records }: { value: string; records: number }) => [value, records]),
    [
      ['INFO', shop.filter(({ severity }) => severity === 9).length],
      ['ERROR', shop.filter(({ severity }) => severity === 17).length],
    ],
  );
  t.is((await get(`/api/logs/histogram?${range}&step=1h&projectId=p2`)).records, 20);
  t.is((await get(`/api/logs/histogram?${range}&step=1h&projectId=p2&scope=account`)).records, 60);
  t.is((await get(`/api/logs/histogram?${range}&step=1h&service=shop&search=---`)).records, 0);
});

test('aggregates match the expected arithmetic', async (t) => {
  const measure = encodeURIComponent(
    'count, sum(took) as total,avg(took),min(took),max(took),p50(took),distinct(http.route)',
  );
  const body = await get(`/api/logs/aggregate?${range}&measure=${measure}&groupBy=service&sort=service`);
  t.deepEqual(
    body.columns.map(({ name }: { name: string }) => name),
    ['service', 'count', 'total', 'avg_took', 'min_took', 'max_took', 'p50_took', 'distinct_http.route'],
  );
  const expected = ['shop', 'web'].map((service) => {
    const durations = minutes.flatMap((log, index) => (log.service === service ? [index] : []));
    const sum = durations.reduce((all, each) => all + each, 0);
    const middle =
      ((durations[(durations.length - 1) >> 1] as number) + (durations[durations.length >> 1] as number)) / 2;
    return [
      service,
      durations.length,
      sum,
      sum / durations.length,
      Math.min(...durations),
      Math.max(...durations),
      middle,
      3,
    ];
  });
  t.deepEqual(body.rows, expected);
  const series = await get(`/api/logs/aggregate?${range}&measure=count&step=30m`);
  t.deepEqual(
    series.series[0].points.map(([, value]: number[]) => value),
    [30, 30],
  );
});

for (const [query, message] of [
  [
    'measure=median(took)',
    '400 measure: column 1: expected one of count, rate, distinct, sum, avg, min, max or a percentile such as p95',
  ],
  ['measure=count,p95', '400 measure: column 10: expected a field, as in p95(duration)'],
  [
    'measure=p101(took)',
    '400 measure: column 1: expected one of count, rate, distinct, sum, avg, min, max or a percentile such as p95',
  ],
  ['measure=sum(took', '400 measure: column 9: expected a closing parenthesis'],
  ['measure=sum("took)', '400 measure: column 5: expected a closing quote for this one'],
  ['measure=count count', '400 measure: column 7: expected a comma or the end'],
  ['measure=count(took)', '400 measure: column 1: expected count without a field: distinct(took) counts values'],
  ['measure=sum(took) as 1', '400 measure: column 14: expected a name of letters, digits and _ after "as"'],
  [
    'measure=count,',
    '400 measure: column 7: expected one of count, rate, distinct, sum, avg, min, max or a percentile such as p95',
  ],
  ['groupBy=a,,b', '400 groupBy: column 3: expected a name'],
  ['search=(a', '400 search: column 1: expected a closing parenthesis for this one'],
  ['search=a) OR (b', '400 search: column 2: expected an opening parenthesis before this closing one'],
  ['step=-1s', '400 step: must be a duration such as 30s, 5m or 1h'],
] as const)
  test(`aggregate?${query} reports the error and its position`, async (t) => {
    const [name = '', value = ''] = query.split(/=(.*)/s);
    t.is(await messageOf(`/api/logs/aggregate?${name}=${encodeURIComponent(value)}`), message);
  });

test('the catalogue lists the fields, their types and the number of records with each', async (t) => {
  const body = await get(`/api/logs/fields?${range}&limit=1000`);
  t.is(body.from, `${iso(0).slice(0, -1)}000000Z`);
  t.is(body.to, `${iso(3600).slice(0, -1)}000000Z`);
  t.is(body.records, 60);
  t.is(body.excluded, 0);
  const byName = new Map(body.items.map((item: { name: string }) => [item.name, item]));
  t.like(byName.get('took'), {
    kind: 'attribute',
    types: [
      { type: 'integer', records: 40 },
      { type: 'string', records: 20 },
    ],
    hasTypeConflict: true,
    records: 60,
    share: 1,
    firstSeen: `${iso(0).slice(0, -1)}000000Z`,
    lastSeen: `${iso(59 * 60).slice(0, -1)}000000Z`,
  });
  t.like(byName.get('with, comma "and" (more)'), { records: 30, share: 0.5, hasTypeConflict: false });
  t.like(byName.get('resource.k8s.pod.name'), { kind: 'resource', key: 'k8s.pod.name', records: 60 });
  t.like(byName.get('severity'), { kind: 'field', types: [{ type: 'text', records: 60 }], records: 60 });
  t.false(byName.has('traceId'));
  t.is((await get(`/api/logs/fields?${range}&projectId=p2`)).records, 20);
  t.deepEqual(
    (await get(`/api/logs/fields?${range}&contains=OOK`)).items.map(({ name }: { name: string }) => name),
    ['took'],
  );
  const paged: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await get(`/api/logs/fields?${range}&limit=2&cursor=${cursor}`);
    paged.push(...page.items.map(({ name }: { name: string }) => name));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  t.deepEqual(
    paged,
    body.items.map(({ name }: { name: string }) => name),
  );
});

test('top values of a field are counted, for names with any characters', async (t) => {
  const comma = encodeURIComponent('with, comma "and" (more)');
  t.like(await get(`/api/logs/fields/${comma}/values?${range}`), {
    records: 60,
    withField: 30,
    distinct: 2,
    items: [
      { value: 'v0', isTruncated: false, records: 15, share: 0.5 },
      { value: 'v1', isTruncated: false, records: 15, share: 0.5 },
    ],
    partial: [],
  });
  const pods = await get(`/api/logs/fields/resource.k8s.pod.name/values?${range}&search=failed&prefix=shop`);
  t.like(pods, { records: 6, withField: 3, distinct: 1, items: [{ value: 'shop-1', records: 3, share: 1 }] });
  const durationValues = await get(`/api/logs/fields/took/values?${range}&limit=2&service=shop`);
  t.is(durationValues.distinct, 15);
  t.deepEqual(
    durationValues.items.map(({ value, records }: { value: string; records: number }) => [value, records]),
    [
      ['0', 1],
      ['12', 1],
    ],
  );
  const slash = encodeURIComponent("a/b?c#d%e'\\");
  t.like(await get(`/api/logs/fields/${slash}/values?${range}`), { name: "a/b?c#d%e'\\", withField: 0, items: [] });
});

/** Parses cells of RFC 4180, character by character. */
const csvOf = (csv: string): string[][] => {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let index = 0; index < csv.length; index++) {
    const character = csv[index] as string;
    if (quoted && character === '"' && csv[index + 1] === '"') cell += csv[++index];
    else if (character === '"') quoted = !quoted;
    else if (quoted) cell += character;
    else if (character === ',') {
      row.push(cell);
      cell = '';
    } else if (character === '\n') {
      rows.push([...row, cell]);
      row = [];
      cell = '';
    } else if (character !== '\r') cell += character;
  }
  return rows;
};

const hostile = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', 'a,"b"\r\nc', "it's", '\uff1d1', ''];

test('exports contain the same records as lists, in both orders, and CSV cells cannot execute formulas', async (t) => {
  const seconds = 15_000 - 86_400;
  await landLogs(
    harness,
    hostile.map((body, index) => ({
      timeNs: at(seconds, index),
      body,
      service: 'hostile',
      attributes: [double('negative', -1.5), int('big', '9007199254740993'), text('=key', body)],
    })),
    { offset: 50 },
  );
  const within = `from=${iso(seconds)}&to=${iso(seconds + 1)}&service=hostile`;
  const lines = (await get(`/api/logs/export?${within}&order=oldest`))
    .trimEnd()
    .split('\n')
    .map((line: string) => JSON.parse(line));
  t.deepEqual(lines, (await get(`/api/logs?${within}&order=oldest`)).items);
  const { body, headers } = await fetchJson(
    `/api/logs/export?${within}&order=oldest&fields=timestamp,body,negative,big,"=key"`,
    { accept: 'text/csv' },
  );
  t.regex(headers.get('content-type') ?? '', /^text\/csv/);
  const [head, ...rows] = csvOf(body);
  t.deepEqual(head, ['timestamp', 'body', 'negative', 'big', "'=key"]);
  t.deepEqual(
    rows.map(([, cell]) => cell),
    hostile.map((cell) => (/^\s*[=+\-@\t\r\uff1d]/.test(cell) ? `'${cell}` : cell)),
  );
  t.deepEqual(rows[0]?.slice(2, 4), ['-1.5', '9007199254740993']);
  t.regex(rows[3]?.[0] ?? '', /\.000000003Z$/);
  t.deepEqual(
    csvOf((await get(`/api/logs/export?${within}&format=csv`)) as string).map((cells) => cells.length),
    Array(hostile.length + 1).fill(11),
  );
});

test('a truncated export has a note in its last line, and can be continued from there', async (t) => {
  const all = (await get(`/api/logs/export?${range}`)).trimEnd().split('\n');
  t.is(all.length, 60);
  const cut = (await get(`/api/logs/export?${range}&limit=45`)).trimEnd().split('\n');
  t.is(cut.length, 46);
  const { cut: last } = JSON.parse(cut[45]);
  t.is(last.records, 45);
  const rest = (await get(`/api/logs/export?${range}&cursor=${last.cursor}`)).trimEnd().split('\n');
  t.deepEqual([...cut.slice(0, 45), ...rest], all);
  const csv = csvOf((await get(`/api/logs/export?${range}&limit=45&format=csv&fields=body`)) as string);
  t.is(csv.length, 47);
  t.regex(csv[46]?.[0] ?? '', /^# cut: more records match/);
  t.is((await get(`/api/logs/export?${range}&limit=60`)).trimEnd().split('\n').length, 60);
  t.is(await get(`/api/logs/export?${range}&search=nowhere`), '');
});
