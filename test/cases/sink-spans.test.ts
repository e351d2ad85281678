import test from 'ava';
import { messageOf, openTables, received, type Tables, text, tracesRequest } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const id = (byte: number, length: number): Uint8Array => new Uint8Array(length).fill(byte);
const spans = (list: object[], resource: object[] = []): Uint8Array =>
  tracesRequest({
    resourceSpans: [
      { resource: { attributes: resource }, scopeSpans: [{ scope: { name: 'http', version: '2' }, spans: list }] },
    ],
  });

test('every field of a span, its events and its links can be read back', async (t) => {
  const request = spans(
    [
      {
        traceId: id(0xaa, 16),
        spanId: id(0xbb, 8),
        parentSpanId: id(0xcc, 8),
        traceState: 'vendor=1',
        flags: 769,
        name: 'GET /cart',
        kind: 2,
        startTimeUnixNano: '1772359200000000001',
        endTimeUnixNano: '1772359204294967299',
        attributes: [text('http.route', '/cart'), { key: 'n', value: { doubleValue: 1.5 } }],
        droppedAttributesCount: 1,
        events: [
          { timeUnixNano: '1772359200000000002', name: 'first', attributes: [text('e', '1')] },
          { timeUnixNano: '1772359200000000003', name: 'second', droppedAttributesCount: 4 },
        ],
        droppedEventsCount: 2,
        links: [
          {
            traceId: id(0xdd, 16),
            spanId: id(0xee, 8),
            traceState: 's=2',
            flags: 257,
            droppedAttributesCount: 7,
            attributes: [{ key: 'l', value: { boolValue: true } }],
          },
          {},
        ],
        droppedLinksCount: 3,
        status: { message: 'failed', code: 2 },
      },
      {},
    ],
    [text('service.name', 'cart')],
  );
  const { rejected, rows } = await tables.land([messageOf([request], { tenantId: 'fields', signal: 'traces' })], {
    sink: 'traces',
  });
  t.deepEqual(rejected, []);
  // The counted fields are tested in sink-fields.test.ts.
  const { fields: _, ...landed } = rows;
  t.deepEqual(landed, { resources: 1, spans: 2, usage: 1 });
  const found = await tables.read(
    `SELECT * EXCEPT (trace_id, span_id, parent_span_id, link_trace_ids, link_span_ids, resource_id, tenant_id, project_id, partition, offset),
     hex(trace_id) AS trace, hex(span_id) AS span, hex(parent_span_id) AS parent,
     arrayMap(id -> hex(id), link_trace_ids) AS link_traces, arrayMap(id -> hex(id), link_span_ids) AS link_spans
     FROM spans WHERE tenant_id = 'fields' ORDER BY ordinal`,
  );
  t.deepEqual(found[0], {
    received_at: received,
    ordinal: 0,
    timestamp: '2026-03-01 10:00:00.000000001',
    duration: '4294967298',
    service: 'cart',
    scope_name: 'http',
    scope_version: '2',
    scope_attributes: '',
    scope_dropped_attributes: 0,
    scope_schema_url: '',
    trace_state: 'vendor=1',
    flags: 769,
    name: 'GET /cart',
    kind: 2,
    status_code: 2,
    status_message: 'failed',
    attributes: { 'http.route': '/cart', n: '1.5' },
    attribute_types: 'sd',
    dropped_attributes: 1,
    event_timestamps: ['2026-03-01 10:00:00.000000002', '2026-03-01 10:00:00.000000003'],
    event_names: ['first', 'second'],
    event_attributes: [{ e: '1' }, {}],
    event_attribute_types: ['s', ''],
    event_dropped_attributes: [0, 4],
    dropped_events: 2,
    link_trace_states: ['s=2', ''],
    link_attributes: [{ l: 'true' }, {}],
    link_attribute_types: ['b', ''],
    link_dropped_attributes: [7, 0],
    link_flags: [257, 0],
    dropped_links: 3,
    trace: 'AA'.repeat(16),
    span: 'BB'.repeat(8),
    parent: 'CC'.repeat(8),
    link_traces: ['DD'.repeat(16), '00'.repeat(16)],
    link_spans: ['EE'.repeat(8), '00'.repeat(8)],
  });
  t.like(found[1], {
    ordinal: 1,
    timestamp: `${received}000000`,
    duration: '0',
    event_names: [],
    link_traces: [],
    attributes: {},
    name: '',
  });
});

const durations: readonly (readonly [string, string, string, string])[] = [
  ['of the same instant is 0', '1772359200000000000', '1772359200000000000', '0'],
  ['is 0 if the end is before the start', '1772359200000000000', '1772359100000000000', '0'],
  ['is 0 without a start', '0', '1772359100000000000', '0'],
  ['borrows from the upper word', '1772359199999999999', '1772359205000000000', '5000000001'],
];

for (const [index, [name, startTimeUnixNano, endTimeUnixNano, duration]] of durations.entries()) {
  test(`a duration ${name}`, async (t) => {
    const tenantId = `durations-${index}`;
    await tables.land([messageOf([spans([{ startTimeUnixNano, endTimeUnixNano }])], { tenantId })], { sink: 'traces' });
    t.deepEqual(await tables.read(`SELECT toString(duration) AS duration FROM spans WHERE tenant_id = '${tenantId}'`), [
      { duration },
    ]);
  });
}

test('an error in the last link of a span removes the events and links of the whole message', async (t) => {
  const good = spans([{ name: 'good', events: [{ name: 'e' }], links: [{ traceState: 'l' }] }]);
  const bad = spans([
    { name: 'bad', events: [{ name: 'e', attributes: [text('a', 'b')] }], links: [{ traceId: id(1, 15) }] },
  ]);
  const { rejected } = await tables.land(
    [good, bad, good].map((body, offset) => messageOf([body], { tenantId: 'poison', offset })),
    { sink: 'traces' },
  );
  t.deepEqual(
    rejected.map(({ index }) => index),
    [1],
  );
  const rows = await tables.read(`SELECT name, event_names, link_trace_states FROM spans WHERE tenant_id = 'poison'`);
  const expected = { name: 'good', event_names: ['e'], link_trace_states: ['l'] };
  t.deepEqual(rows, [expected, expected]);
});
