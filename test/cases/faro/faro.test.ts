/**
 * Payloads of Faro, compared with the result of the translator of the OpenTelemetry Collector
 * (`pkg/translator/faro/testdata`, copyright The OpenTelemetry Authors, Apache-2.0, `LICENSE`), and further processing.
 */
import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { requireFormat } from '../../../receivers/registry.ts';
import { defaultBrowserPrivacy } from '../../../schemas/browser-privacy.ts';
import { PermanentError } from '../../../schemas/errors.ts';
import type { TimeRange } from '../../../schemas/readable-times.ts';
import { browserApplication, browserOrigin, type Fixture, running } from '../../contract/receivers-fixture.ts';
import { requestTypes } from '../proto/load.ts';

interface Value {
  readonly stringValue?: string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}
interface Attribute {
  readonly key: string;
  readonly value: Value;
}
interface LogRecord {
  readonly timeUnixNano?: string;
  readonly severityText?: string;
  readonly body?: Value;
  readonly attributes: readonly Attribute[];
  readonly traceId?: string;
}
interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly events: readonly { readonly name: string }[];
}
interface Resource {
  readonly attributes: readonly Attribute[];
}
interface Logs {
  readonly resourceLogs: readonly {
    readonly resource: Resource;
    readonly scopeLogs: readonly { readonly logRecords: readonly LogRecord[] }[];
  }[];
}
interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: Resource;
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const toText = ({ stringValue, doubleValue, boolValue }: Value = {}): string =>
  stringValue ?? String(doubleValue ?? boolValue);
const toTexts = (attributes: readonly Attribute[] = []): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, toText(value)]));

const translate = (
  payload: unknown,
  { application = 'testapp', times }: { application?: string; times?: TimeRange } = {},
) => {
  const browser = { application, privacy: defaultBrowserPrivacy };
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const translation = requireFormat('faro-json').translate?.(body, 'logs', times, browser);
  if (translation === undefined) throw new Error('the format is not translated');
  const options = { longs: String, bytes: String, arrays: true };
  const logs = requestTypes.logs.toObject(requestTypes.logs.decode(translation.body), options) as unknown as Logs;
  const [request] = translation.additionalRequests ?? [];
  const traces =
    request && (requestTypes.traces.toObject(requestTypes.traces.decode(request.body), options) as unknown as Traces);
  return {
    resource: toTexts(logs.resourceLogs[0]?.resource.attributes),
    records: logs.resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords)),
    traces,
    rejected: translation.rejected,
  };
};

/** Returns the fields of a text in logfmt. */
const parseLogfmt = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/([^\s=]+)=("(?:[^"\\]|\\.)*"|\S*)/g)].map(([, key = '', value = '']) => [
      key,
      value.startsWith('"') ? (JSON.parse(value) as string) : value,
    ]),
  );

const readCase = (name: string, file: string): string =>
  readFileSync(new URL(`${name}/${file}`, import.meta.url), 'utf8');

/** Fields of the collector's text that are record fields or attributes of OpenTelemetry's conventions here. */
const recordFields = new Set(['timestamp', 'kind', 'level', 'message', 'stacktrace', 'value', 'ttfb', 'ttfp', 'ttfcp']);
const personalFields = ['user_email', 'user_username'];

const toFrames = (stack: string | undefined): string[] => (stack ?? '').split('\n').map((line) => line.trim());

/** Returns the value of a field in a record; undefined if the record has the field elsewhere. */
const readField = (attributes: Record<string, string>, field: string): string | undefined => {
  if (personalFields.includes(field)) return undefined;
  return attributes[field === 'type' && attributes['kind'] === 'exception' ? 'exception.type' : field];
};

const compareRecord = (t: ExecutionContext, record: LogRecord, text: Record<string, string>): void => {
  const attributes = toTexts(record.attributes);
  t.is(attributes['kind'] ?? '', text['kind'] ?? '');
  t.is(record.severityText ?? '', text['level'] ?? '');
  t.is(Number(record.timeUnixNano) / 1e6, Date.parse(text['timestamp'] ?? ''));
  for (const [field, value] of Object.entries(text))
    if (!recordFields.has(field))
      t.is(readField(attributes, field), personalFields.includes(field) ? undefined : value, field);
  if (text['kind'] === 'log') t.is(toText(record.body), text['message'] ?? '');
  if (text['kind'] !== 'exception') return;
  t.is(attributes['exception.message'], text['value']);
  t.deepEqual(toFrames(attributes['exception.stacktrace']), toFrames(text['stacktrace']));
};

for (const name of ['standard-payload', 'two-log-records-same-resource', 'browser-brand-slice-payload'])
  test(`${name}: log records equal those of the collector's translator`, (t) => {
    const { records, resource } = translate(readCase(name, 'payload.json'));
    const { resourceLogs } = parse(readCase(name, 'plogs.yaml')) as Logs;
    const expected = resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
    t.like(resource, toTexts(resourceLogs[0]?.resource.attributes));
    t.is(records.length, expected.length);
    for (const [index, record] of records.entries())
      compareRecord(t, record, parseLogfmt(toText(expected[index]?.body)));
  });

test('standard-payload: spans equal those of the collector, and have the application of the payload', (t) => {
  const { traces } = translate(readCase('standard-payload', 'payload.json'));
  const [expected] = (parse(readCase('standard-payload', 'ptraces.yaml')) as Traces).resourceSpans;
  const [actual] = traces?.resourceSpans ?? [];
  t.deepEqual(toTexts(actual?.resource.attributes), toTexts(expected?.resource.attributes));
  const toFields = ({ name, events }: Span) => ({ name, events: events.map((event) => event.name) });
  t.deepEqual(actual?.scopeSpans[0]?.spans.map(toFields), expected?.scopeSpans[0]?.spans.map(toFields));
  t.is(
    Buffer.from(actual?.scopeSpans[0]?.spans[0]?.traceId ?? '', 'base64').toString('hex'),
    expected?.scopeSpans[0]?.spans[0]?.traceId ?? '',
  );
});

test('valid trace ids are those of the record, and queries of URLs and addresses of people are removed', (t) => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const { records } = translate({
    logs: [{ message: 'sent to ann@example.com', trace: { trace_id: traceId, span_id: 'b7ad6b7169203331' } }],
    meta: { page: { url: 'https://shop.example.com/cart?token=s3cret' }, user: { id: '7', email: 'ann@example.com' } },
  });
  t.is(Buffer.from(records[0]?.traceId ?? '', 'base64').toString('hex'), traceId);
  t.is(toText(records[0]?.body), 'sent to [email]');
  const attributes = toTexts(records[0]?.attributes);
  t.deepEqual(attributes, { kind: 'log', page_url: 'https://shop.example.com/cart', user_id: '7' });
});

const faults: readonly (readonly [title: string, body: string, reason: string, message: RegExp])[] = [
  ['another application', '{"meta":{"app":{"name":"other"}}}', 'foreign-service', /^meta: meta\.app\.name is "other"/],
  ['a cut text', '{"logs":[{"message":"x"', 'malformed', /./],
  ['a list of numbers', '{"logs":[1]}', 'malformed', /^logs\[0\]: expected an object/],
  ['an invalid time', '{"events":[{"timestamp":"soon"}]}', 'bad-time', /^events\[0\]: the timestamp is not a time/],
  ['deep nesting', `{"logs":[{"context":${'['.repeat(90)}${']'.repeat(90)}}]}`, 'too-deep', /nest/],
  ['a number without an end', '{"measurements":[{"values":{"a":1e999}}]}', 'malformed', /too large for a double/],
  ['a span without ids', '{"traces":{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}}', 'bad-id', /traceId/],
];

for (const [title, body, reason, message] of faults)
  test(`a payload with ${title} is refused, with the path`, (t) => {
    const error = t.throws(() => translate(body), { instanceOf: PermanentError });
    t.is(error?.reason, reason);
    t.regex(error?.message ?? '', message);
  });

test('items with a fault are set aside in the form of the payload, and the others are accepted', (t) => {
  const times = { fromMs: Date.UTC(2023, 0), toMs: Date.UTC(2024, 0) };
  const payload = {
    logs: [
      { message: 'good', timestamp: '2023-11-16T10:00:55.995Z' },
      { message: 'old', timestamp: '2003-11-16T10:00:55.995Z' },
    ],
    traces: { resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'without ids' }] }] }] },
    meta: { app: { name: 'testapp' } },
  };
  const { records, rejected } = translate(payload, { times });
  t.deepEqual(
    records.map(({ body }) => toText(body)),
    ['good'],
  );
  t.is(rejected?.records, 2);
  t.is(rejected?.error.reason, 'time-too-old');
  t.deepEqual(JSON.parse(String(rejected?.body)), { ...payload, logs: [payload.logs[1]] });
});

test('recorded events of the page are not log records, because they contain text that users type', (t) => {
  const recorded = {
    name: 'faro.session_recording.event',
    attributes: { event: '{"type":3,"data":{"text":"s3cret"}}' },
  };
  const { records } = translate({ events: [recorded, { name: 'click' }] });
  t.deepEqual(
    records.map(({ body }) => toText(body)),
    ['click'],
  );
});

test('records that would become many times their bytes are not accepted', (t) => {
  const meta = { session: { id: 'x'.repeat(100_000) } };
  const { records, rejected } = translate({ meta, logs: Array.from({ length: 2_000 }, () => ({ message: '' })) });
  t.true(records.length < 200, `${records.length}`);
  t.is(rejected?.error.reason, 'too-large');
  t.is((rejected?.records ?? 0) + records.length, 2_000);
});

const post = ({ http, browserSecret }: Fixture, payload: unknown): Promise<Response> =>
  fetch(`${http}/rum/${browserSecret}/faro`, {
    method: 'POST',
    headers: { origin: browserOrigin, 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  });

const span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name: 'HTTP GET',
  startTimeUnixNano: '1700000000000000000',
  endTimeUnixNano: '1700000000100000000',
};
const both = {
  logs: [{ message: 'one', timestamp: '2023-11-14T22:13:20.000Z' }],
  traces: { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] },
  meta: { app: { name: browserApplication } },
};

test('log records and spans of one payload are published in one step, and share its bytes', async (t) => {
  await using fixture = await running();
  t.is((await post(fixture, both)).status, 202);
  const members = fixture.bus.messages.map(({ topic, headers }) => ({ topic, records: headers?.['records'] }));
  t.deepEqual(
    members.sort((left, right) => left.topic.localeCompare(right.topic)),
    [
      { topic: 'otlp.logs', records: '1' },
      { topic: 'otlp.traces', records: '1' },
    ],
  );
  t.is(fixture.bus.publishes, 1);
  const sentBytes = fixture.bus
    .members()
    .reduce((sum, { headers }) => sum + (headers.members[0]?.sentBytes ?? headers.members[0]?.size ?? 0), 0);
  t.is(sentBytes, JSON.stringify(both).length);
});

test('spans of a key for logs only are not published, and their number is reported', async (t) => {
  await using fixture = await running({ browserKey: { signals: ['logs'] } });
  t.is((await post(fixture, both)).status, 202);
  t.deepEqual(
    fixture.bus.members().map(({ headers }) => headers.signal),
    ['logs'],
  );
  await fixture.receivers.stop();
  const report = fixture.bus.messages.find(({ topic }) => topic.includes('usage'));
  t.like(JSON.parse(String(report?.value)).rows[0], { signal: 'traces', reason: 'forbidden', records: 1 });
});

test('recorded events without a number are dropped, stored nowhere, and counted', async (t) => {
  await using fixture = await running();
  const event = { type: 3, data: { source: 5, text: 's3cret' } };
  const recorded = { name: 'faro.session_recording.event', attributes: { event: JSON.stringify(event) } };
  t.is((await post(fixture, { events: [recorded, recorded] })).status, 202);
  await fixture.receivers.stop();
  t.false(fixture.bus.messages.some(({ value }) => String(value).includes('s3cret')));
  const report = fixture.bus.messages.find(({ topic }) => topic.includes('usage'));
  t.like(JSON.parse(String(report?.value)).rows[0], { signal: 'logs', reason: 'unreadable-recording', records: 2 });
});
