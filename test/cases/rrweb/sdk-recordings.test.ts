/** Recordings that SDKs send with their telemetry: as log records from HyperDX and Splunk, and as events from Faro. */
import { zstdDecompressSync } from 'node:zlib';
import test from 'ava';
import type { Translation } from '../../../receivers/engine/body-format.ts';
import { requireFormat } from '../../../receivers/registry.ts';
import { defaultBrowserPrivacy } from '../../../schemas/browser-privacy.ts';
import { PermanentError } from '../../../schemas/errors.ts';
import { convertJsonRequest } from '../../../schemas/otlp/json.ts';
import type { ReplayChunk } from '../../../schemas/rum-replays.ts';
import { requestTypes } from '../proto/load.ts';

const application = 'shop';
const translate = (format: string, body: Buffer, tenantId = 'acme'): Translation => {
  const browser = { tenantId, application, privacy: defaultBrowserPrivacy };
  const translation = requireFormat(format).translate?.(body, 'logs', undefined, browser);
  if (translation === undefined) throw new Error('the format is not translated');
  return translation;
};

const readChunks = ({ publications = [] }: Translation): ReplayChunk[] =>
  publications.map(({ value }) => value as unknown as ReplayChunk);
const readEvents = (translation: Translation): unknown[] =>
  readChunks(translation).flatMap(
    ({ data }) => JSON.parse(zstdDecompressSync(Buffer.from(data, 'base64')).toString()) as unknown[],
  );

const secret = 's3cret';
const input = { type: 2, id: 4, tagName: 'input', attributes: { type: 'text', value: secret }, childNodes: [] };
const createSnapshot = (text = 'public'): object => ({
  type: 2,
  timestamp: 1_000,
  data: { node: { type: 0, id: 1, childNodes: [{ type: 3, id: 2, textContent: text }, input] } },
});
const masked = JSON.parse(JSON.stringify(createSnapshot()).replace(secret, '******')) as object;
const move = (timestamp: number): object => ({ type: 3, timestamp, data: { source: 1, positions: [] } });

type Value = string | number;
const toAttributes = (values: Readonly<Record<string, Value>>): object[] =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { doubleValue: value },
  }));

let sessions = 0;
/** A request as the HyperDX recorder sends it. */
const createLogs = (
  records: readonly object[],
  resource: Readonly<Record<string, Value>> = {
    'service.name': application,
    'rum.sessionId': `session-${sessions++}`,
    'rum.scriptInstance': 'load-1',
  },
): object => ({
  resourceLogs: [
    {
      resource: { attributes: toAttributes(resource) },
      scopeLogs: [{ scope: { name: 'rum.rr-web' }, logRecords: records }],
    },
  ],
});
const createRecord = (text: string, values: Readonly<Record<string, Value>>): object => ({
  timeUnixNano: '1700000000000000000',
  body: { stringValue: text },
  attributes: toAttributes(values),
});
const createEventRecords = (event: object, number: number, count = 1): object[] => {
  const text = JSON.stringify(event);
  const length = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, index) =>
    createRecord(text.slice(index * length, (index + 1) * length), {
      'rr-web.offset': index,
      'rr-web.event': number,
      'rr-web.chunk': index + 1,
      'rr-web.total-chunks': count,
    }),
  );
};

const encoders: Readonly<Record<string, (request: object) => Buffer>> = {
  'browser-otlp-json': (request) => Buffer.from(JSON.stringify(request)),
  'browser-otlp-protobuf': (request) => convertJsonRequest('logs', Buffer.from(JSON.stringify(request))),
};
for (const [format, encode] of Object.entries(encoders)) {
  test(`${format}: events in log records are masked and numbered, also in chunks and in another order`, (t) => {
    const records = [createSnapshot(), move(1_001), move(1_002)].flatMap((event, index) =>
      createEventRecords(event, index + 1, index === 0 ? 3 : 1),
    );
    const translation = translate(format, encode(createLogs(records.toReversed())));
    t.deepEqual(readEvents(translation), [masked, move(1_001), move(1_002)]);
    t.like(readChunks(translation)[0], { application, tab: 'load-1', first: 0, last: 2, hasSnapshot: true });
    t.like(translation, { publishedRecords: 3, droppedRecordings: 0 });
    t.is(requestTypes.logs.toObject(requestTypes.logs.decode(translation.body))['resourceLogs'], undefined);
  });

  test(`${format}: an event whose chunks are in two requests is stored with the last one`, (t) => {
    const resource = { 'rum.sessionId': `session-${sessions++}`, 'splunk.scriptInstance': 'load-1' };
    const [first, second] = createEventRecords(createSnapshot(), 1, 2);
    const translateRecord = (record: object | undefined): Translation =>
      translate(format, encode(createLogs([record ?? {}], resource)));
    t.deepEqual(readEvents(translateRecord(second)), []);
    t.deepEqual(readEvents(translateRecord(first)), [masked]);
  });

  test(`${format}: events that cannot be read are dropped and counted, and others are stored`, (t) => {
    const unreadable = [
      ...createEventRecords({ v: 'packed' }, 2),
      ...createEventRecords({ type: 3 }, 3),
      createRecord('{"type":', { 'rr-web.event': 4, 'rr-web.chunk': 1, 'rr-web.total-chunks': 1 }),
      createRecord(JSON.stringify(move(1)), { 'rr-web.event': 0, 'rr-web.chunk': 1, 'rr-web.total-chunks': 1 }),
      createRecord(JSON.stringify(move(1)), { 'rr-web.event': 5 }),
    ];
    const translation = translate(
      format,
      encode(createLogs([...createEventRecords(createSnapshot(), 1), ...unreadable])),
    );
    t.deepEqual(readEvents(translation), [masked]);
    t.is(translation.droppedRecordings, unreadable.length);
    const withoutSession = translate(format, encode(createLogs(createEventRecords(move(1), 1), {})));
    t.like(withoutSession, { droppedRecordings: 1, publications: [] });
  });

  test(`${format}: refused requests with recordings are stored nowhere`, (t) => {
    const event = createEventRecords(createSnapshot(), 1);
    const refused: readonly (readonly [message: RegExp, body: Buffer])[] = [
      [/separate requests/, encode(createLogs([...event, createRecord('a log', {})]))],
      [/payments.*shop/, encode(createLogs(event, { 'service.name': 'payments' }))],
      [/./, encode(createLogs(event)).subarray(0, -20)],
    ];
    for (const [message, body] of refused) {
      const error = t.throws(() => translate(format, body), { instanceOf: PermanentError, message });
      t.true(requireFormat(format).isSensitive?.(error));
    }
  });

  test(`${format}: a recording can have 5 MiB, other telemetry 1 MiB`, (t) => {
    const large = createSnapshot('public '.repeat(300_000));
    t.is(readEvents(translate(format, encode(createLogs(createEventRecords(large, 1, 3))))).length, 1);
    const log = encode(createLogs([createRecord('x'.repeat(2_000_000), { about: 'rr-web.js' })]));
    t.is(t.throws(() => translate(format, log), { instanceOf: PermanentError })?.reason, 'too-large');
  });
}

/** A Faro payload. Its session replay numbers events from 0. */
const createPayload = (events: readonly (readonly [event: object, seq: number])[], session: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      meta: { app: { name: application }, session: { id: session } },
      logs: [{ message: 'a log', level: 'info', timestamp: '2023-11-14T22:13:20.000Z' }],
      events: [
        { name: 'faro.session_recording.started', attributes: { recording_id: 'r1' } },
        ...events.map(([event, seq]) => ({
          name: 'faro.session_recording.event',
          timestamp: '2023-11-14T22:13:20.000Z',
          attributes: { event: JSON.stringify(event), recording_id: 'r1', gen: '0', seq: String(seq) },
        })),
      ],
    }),
  );

test('events of Faro are masked, and are not log records; missing numbers are a gap', (t) => {
  const payload = createPayload(
    [
      [createSnapshot(), 0],
      [move(1_001), 1],
      [move(1_005), 5],
    ],
    `session-${sessions++}`,
  );
  const translation = translate('faro-json', payload);
  t.deepEqual(readEvents(translation), [masked, move(1_001), move(1_005)]);
  t.deepEqual(
    readChunks(translation).map(({ tab, first, last }) => [tab, first, last]),
    [
      ['r1', 0, 1],
      ['r1', 5, 5],
    ],
  );
  const logs = requestTypes.logs.toObject(requestTypes.logs.decode(translation.body), { bytes: String });
  t.is(JSON.stringify(logs).split('"severityText"').length, 3);
  t.false(JSON.stringify(logs).includes('public'));
});

test('a refused payload of Faro with a recording is stored nowhere', (t) => {
  const payload = createPayload([[createSnapshot(), 0]], 's1').subarray(0, -5);
  const error = t.throws(() => translate('faro-json', payload), { instanceOf: PermanentError });
  t.true(requireFormat('faro-json').isSensitive?.(error));
});

test('a recording of another organization with equal names does not continue a page', (t) => {
  const change = { type: 3, timestamp: 1_001, data: { source: 0, texts: [{ id: 2, value: 'changed' }] } };
  const session = `session-${sessions++}`;
  translate('faro-json', createPayload([[createSnapshot(), 0]], session));
  const next = createPayload([[change, 1]], session);
  t.false(JSON.stringify(readEvents(translate('faro-json', next, 'other'))).includes('changed'));
  t.true(JSON.stringify(readEvents(translate('faro-json', next))).includes('changed'));
});
