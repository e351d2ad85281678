/** Root causes: a deployment two calls away, an exhausted pool, a killed pod, a full host, and no cause. */
import test from 'ava';
import { text } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landOtlp, resourceOf } from './land-otlp.ts';

let harness: Harness;
const minuteMs = 60_000;
/** The start of all problems. */
const at = Math.floor(Date.now() / minuteMs) * minuteMs - 15 * minuteMs;
const before = 70;
const total = before + 14;

const rows = (table: string, columns: string, select: string): Promise<void> =>
  harness.columns.execute(`INSERT INTO ${table} (tenant_id, ${columns}) SELECT 'a', ${select}`);
const atMinute = (minute: string): string => `toDateTime(${(at - before * minuteMs) / 1000} + 60 * ${minute}, 'UTC')`;

interface Instance {
  readonly service: string;
  readonly host: string;
  readonly version?: string;
  readonly pod?: string;
  readonly minutes?: readonly [from: number, to: number];
  /** Shares of requests that fail, before and after the start. */
  readonly failing?: readonly [number, number];
  readonly slower?: number;
  readonly daysAgo?: number;
}

const rate = 40;
const land = async ({
  service,
  host,
  version = '1',
  pod = '',
  minutes = [0, total],
  failing = [0.01, 0.01],
  slower = 1,
  daysAgo = 0,
}: Instance) => {
  const resource = `cityHash64('${service}', '${version}', '${host}', '${pod}')`;
  await rows(
    'resources',
    'resource_id, service, attributes, attribute_types, first_seen, last_seen',
    `${resource}, '${service}', map('service.name', '${service}', 'service.version', '${version}', 'host.name', '${host}', 'k8s.pod.name', '${pod}'), 'ssss', now64(3), now64(3)`,
  );
  const isAfter = `${minutes[0]} + intDiv(number, ${rate}) >= ${before}`;
  await rows(
    'spans',
    'project_id, received_at, timestamp, duration, service, resource_id, name, kind, status_code',
    `'shop', now64(3), toDateTime64(${(at - before * minuteMs) / 1000 - 86_400 * daysAgo} + 60 * ${minutes[0]}, 9, 'UTC') + (number + 0.5) * ${60 / rate},
    toUInt64(1e7 * if(${isAfter}, ${slower}, 1) * exp(0.5 * sin(cityHash64(number, '${service}') % 1000))), '${service}', ${resource}, 'call', 2,
    if(cityHash64(number, '${service}', '${host}') % 1000 < 1000 * if(${isAfter}, ${failing[1]}, ${failing[0]}), 2, 0) FROM numbers(${(minutes[1] - minutes[0]) * rate})`,
  );
};

/** Calls of one service to another, as reported by the caller. */
const call = (client: string, server: string, { failing = 0.01, slower = 1, kind = 'service', system = '' } = {}) =>
  rows(
    'service_edges',
    'project_id, server_project_id, received_at, minute, connection, client, client_kind, server, server_kind, system, requests, errors, timed, duration_sum, duration_max, duration_buckets',
    `'shop', 'shop', now64(3), ${atMinute('number')}, '${kind === 'database' ? 'query' : 'request'}', '${client}', 'service', '${server}', '${kind}', '${system}', ${rate},
    toUInt64(${rate} * if(number >= ${before}, ${failing}, 0.01)) + cityHash64(number, '${client}') % 2, ${rate}, toUInt64(${rate} * 1e7 * if(number >= ${before}, ${slower}, 1)), 100000000,
    map(toUInt16(floor(8 * log2(1e7 * if(number >= ${before}, ${slower}, 1)))), toUInt64(${rate})) FROM numbers(${total})`,
  );

/** Points of a metric of a service, before and after the start. */
const metric = async (
  of: Record<string, string>,
  name: string,
  [normalValue, since]: readonly [number, number],
  labels: Record<string, string> = {},
) =>
  landOtlp(harness.columns, {
    signal: 'metrics',
    request: {
      resourceMetrics: [
        {
          resource: resourceOf(of),
          scopeMetrics: [
            {
              metrics: [
                {
                  name,
                  gauge: {
                    dataPoints: Array.from({ length: total }, (_, minute) => ({
                      timeUnixNano: `${at + (minute - before) * minuteMs + 1000}000000`,
                      asDouble: minute < before ? normalValue : since,
                      attributes: Object.entries(labels).map(([key, value]) => text(key, value)),
                    })),
                  },
                },
              ],
            },
          ],
        },
      ],
    },
  });

test.before(async () => {
  harness = await startHarness();
  // web calls api, which calls cart. Version 2 of cart fails.
  await land({ service: 'web', host: 'h1', failing: [0.01, 0.3] });
  await land({ service: 'api', host: 'h1', failing: [0.01, 0.3] });
  await land({ service: 'cart', host: 'h2', minutes: [0, before] });
  await land({ service: 'cart', host: 'h2', version: '2', minutes: [before, total], failing: [0.01, 0.3] });
  await call('web', 'api', { failing: 0.3 });
  await call('api', 'cart', { failing: 0.3 });
  // archive failed three days ago.
  await land({ service: 'archive', host: 'h9', failing: [0.01, 0.3], daysAgo: 3 });
  // mail fails more often and is deployed at the same time, but nobody calls it.
  await land({ service: 'mail', host: 'h3', minutes: [0, before] });
  await land({ service: 'mail', host: 'h3', version: '2', minutes: [before, total], failing: [0.01, 0.9] });
  // shop waits for connections.
  await land({ service: 'shop', host: 'h4', slower: 5 });
  await metric({ 'service.name': 'shop' }, 'db.client.connection.count', [3, 10], {
    'db.client.connection.pool.name': 'main',
    'db.client.connection.state': 'used',
  });
  await metric({ 'service.name': 'shop' }, 'db.client.connection.max', [10, 10], {
    'db.client.connection.pool.name': 'main',
  });
  // pay is killed because it is out of memory. orders runs on a full host, and on one that is not full.
  await land({ service: 'pay', host: 'h5', pod: 'pay-1', failing: [0.01, 0.4] });
  await landOtlp(harness.columns, {
    signal: 'logs',
    request: {
      resourceLogs: [
        {
          resource: resourceOf({ 'k8s.object.kind': 'Pod', 'k8s.object.name': 'pay-1', 'k8s.node.name': 'h5' }),
          scopeLogs: [
            {
              logRecords: [
                {
                  timeUnixNano: `${at - 20_000}000000`,
                  severityText: 'Warning',
                  body: { stringValue: 'Memory cgroup out of memory: Killed process 71 (java)' },
                  attributes: [text('k8s.event.reason', 'OOMKilling'), text('k8s.event.uid', 'e1')],
                },
              ],
            },
          ],
        },
      ],
    },
  });
  await land({ service: 'orders', host: 'h6', slower: 4 });
  await land({ service: 'orders', host: 'h7' });
  for (const [host, baseline, since] of [
    ['h6', 0.6, 0.02],
    ['h7', 0.6, 0.6],
  ] as const)
    for (const [state, values] of [
      ['idle', [baseline, since]],
      ['user', [1 - baseline, 1 - since]],
    ] as const)
      await metric(
        { 'host.name': host, 'host.id': `id-${host}` },
        'system.cpu.utilization',
        values as [number, number],
        { state, cpu: '0' },
      );
  // search waits for its database. Nothing gets worse in calm. alone fails without an external cause.
  await land({ service: 'search', host: 'h8', slower: 6 });
  await call('search', 'items', { kind: 'database', system: 'postgresql', slower: 6 });
  await land({ service: 'calm', host: 'h9' });
  await land({ service: 'alone', host: 'h9', failing: [0.01, 0.4] });
});
test.after.always(() => harness?.close());

const findRootCause = async (body: object, as: 'viewer' | `token ${string}` = 'viewer') => {
  const answer = await harness.request('POST', '/api/ai/root-cause', { as, body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const first = ({ causes }: { causes: { kind: string; at: string }[] }): string =>
  causes
    .slice(0, 1)
    .map(({ kind, at: node }) => `${kind} ${node}`)
    .join();
const toTexts = (evidence: readonly { text: string }[] = []): string[] => evidence.map(({ text: reason }) => reason);
const ofService = (service: string) =>
  findRootCause({
    service,
    from: new Date(at - 20 * minuteMs).toISOString(),
    to: new Date(at + 14 * minuteMs).toISOString(),
  });

test('a deployment two calls away is found as the cause, and a conspicuous change outside the call path is not', async (t) => {
  const found = await ofService('web');
  t.is(found.state, 'found');
  t.is(first(found), 'deployment service:cart', JSON.stringify(found, null, 1));
  const [cause] = found.causes;
  t.deepEqual(cause.path, ['web', 'api', 'cart']);
  t.true(
    toTexts(cause.evidence).some((each) => /^cart after it: errors .* % → \d\d %/.test(each)),
    toTexts(cause.evidence).join('; '),
  );
  t.true(Math.abs(Date.parse(found.symptom.begin) - at) <= minuteMs, found.symptom.begin);
  t.false(found.causes.some(({ at: node }: { at: string }) => node.includes('mail')));
  const mail = found.others.find(({ at: node }: { at: string }) => node === 'service:mail');
  t.deepEqual(toTexts(mail?.counterEvidence), ['it is not on the path of the symptom']);
});

test('each piece of evidence links to records that show it', async (t) => {
  const { causes, others } = await ofService('web');
  for (const { evidence, counterEvidence } of [...causes, ...others])
    for (const { text: reason, link } of [...evidence, ...counterEvidence]) {
      t.true(link.startsWith('/api/'), `${reason}: ${link}`);
      const path = link.startsWith('/api/services/') ? `${link}?scope=account` : link;
      const { status, body } = await harness.request('GET', path);
      t.is(status, 200, `${reason}: ${link} ${JSON.stringify(body)}`);
      if (link.startsWith('/api/spans')) t.true(body.items.length > 0, `${reason}: ${link}`);
    }
});

const ask = async (question: string) => {
  const from = new Date(at - 20 * minuteMs).toISOString();
  const { status, body } = await harness.request('POST', '/api/ai/query', { as: 'viewer', body: { question, from } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
};

test('"why" is answered by the causes of the service that it names, with their evidence', async (t) => {
  const { investigation, answer, refusal } = await ask('why is web failing?');
  t.deepEqual([answer, refusal], [null, null]);
  t.like(investigation, { about: 'cause', service: 'web' });
  t.is(first(investigation.cause), 'deployment service:cart', JSON.stringify(investigation.cause));
  const refused = await ask('why is everything failing?');
  t.is(refused.refusal.code, 'cause');
});

test('"what changed" is answered by deployments, restarts and kills of the range, of all services or one', async (t) => {
  const everything = (await ask('what changed?')).investigation;
  t.is(everything.cause, null);
  const list = (changes: readonly { kind: string; at: string }[]) =>
    changes.map(({ kind, at: node }) => `${kind} ${node}`).toSorted();
  t.deepEqual(list(everything.changes), ['deployment cart', 'deployment mail', 'oom-kill pay']);
  const { investigation } = await ask('what changed in cart in the last 2 hours?');
  t.deepEqual(list(investigation.changes), ['deployment cart']);
  t.is(investigation.cause.symptom.services[0], 'cart');
  t.deepEqual((await ask('what changed in calm?')).investigation.changes, []);
});

test('"since the last deployment" begins with the last one of the service', async (t) => {
  const { answer } = await ask('error rate of cart since the last deployment');
  t.like(answer.deployment, { service: 'cart', version: '2' });
  t.is(Date.parse(answer.from), Date.parse(answer.deployment.time));
  t.true(Math.abs(Date.parse(answer.from) - at) <= minuteMs);
  t.true(answer.result.rows[0][0] > 25, JSON.stringify(answer.result.rows));
});

for (const [service, cause] of [
  ['shop', 'saturation service:shop'],
  ['pay', 'oom-kill service:pay'],
  ['orders', 'saturation h6'],
  ['search', 'callee database:postgresql:items'],
] as const)
  test(`the cause of ${service} is found: ${cause}`, async (t) => {
    const found = await ofService(service);
    t.is(first(found), cause, JSON.stringify(found, null, 1));
  });

test('if nothing explains the symptom, or nothing got worse, no cause is claimed', async (t) => {
  const calm = await ofService('calm');
  t.is(calm.state, 'inconclusive');
  t.regex(calm.reason, /^requests of calm are no worse than before/);
  const alone = await ofService('alone');
  t.like(alone, { state: 'inconclusive', causes: [] });
  t.regex(alone.symptom.degradations.join(), /^alone: errors .* → 4\d %/);
  t.regex(alone.reason, /^no event on the path/);
});

test('a wide range is sampled, and the part in which requests got worse is analyzed', async (t) => {
  const dayMs = 86_400_000;
  const { symptom } = await harness
    .request('POST', '/api/ai/root-cause', {
      as: 'viewer',
      body: { service: 'archive', from: new Date(at - 6 * dayMs).toISOString(), to: new Date(at).toISOString() },
    })
    .then(({ body }) => body);
  t.true(Math.abs(Date.parse(symptom.begin) - (at - 3 * dayMs)) <= 3 * minuteMs, symptom.begin);
  t.is(Date.parse(symptom.analyzedTo) - Date.parse(symptom.analyzedFrom), dayMs / 2);
});

test('alerts, anomalies and incidents identify the symptom, and a reference that does not exist is refused', async (t) => {
  await rows(
    'alert_transitions',
    'project_id, id, alert_id, rule_id, rule_name, time, from_state, to_state, severity, labels, is_test, received_at',
    `'shop', 't1', 'alert-1', 'r1', 'Errors', fromUnixTimestamp64Milli(toInt64(${at + 3 * minuteMs}), 'UTC'), 'inactive', 'firing', 'critical', map('service', 'web'), false, now64(3)`,
  );
  await rows(
    'anomalies',
    'time, id, revision, detector_id, detector_name, signals, step_ms, series, name, labels, sign, direction, end_ms, score, value',
    `fromUnixTimestamp64Milli(toInt64(${at}), 'UTC'), 'd.s.${at.toString(36)}', 1, 'd', 'Latency', ['traces'], 60000, 's', 'p95', map('service', 'web'), 'up', 'up', 0, 1, 5`,
  );
  const incident = await harness.request('POST', '/api/incidents', {
    as: 'editor',
    body: { title: 'Web fails', alertIds: ['alert-1'] },
  });
  for (const body of [
    { alertId: 'alert-1' },
    { anomalyId: `d.s.${at.toString(36)}` },
    { incidentId: incident.body.id },
  ])
    t.is(first(await findRootCause(body)), 'deployment service:cart', JSON.stringify(body));
  const refused = async (body: object) => {
    const { status, body: answer } = await harness.request('POST', '/api/ai/root-cause', { as: 'viewer', body });
    return [status, (answer.error?.details ?? answer.details ?? [])[0]?.path];
  };
  t.deepEqual(await refused({}), [400, 'alertId']);
  t.deepEqual(await refused({ alertId: 'alert-1', service: 'web' }), [400, 'alertId']);
  t.deepEqual(await refused({ alertId: 'nowhere' }), [400, 'alertId']);
  t.deepEqual(await refused({ anomalyId: 'nowhere' }), [400, 'anomalyId']);
  t.deepEqual(await refused({ incidentId: 'nowhere' }), [400, 'incidentId']);
  const unknown = await harness.request('POST', '/api/ai/root-cause', { as: 'viewer', body: { service: 'SEARCH' } });
  t.is(unknown.status, 404);
  t.regex(unknown.body.message, /^the service does not exist in this organization; similar names: search/);
  const elsewhere = `token ${await harness.signIn('owner@b.example')}` as const;
  const other = await harness.request('POST', '/api/ai/root-cause', { as: elsewhere, body: { service: 'web' } });
  t.is(other.status, 403, 'the plan does not include AI');
});

test('a change of a detector just before its anomaly is the cause, if requests did not get worse', async (t) => {
  const created = await harness.request('POST', '/api/ai/detectors', {
    as: 'editor',
    body: {
      name: 'Calm requests',
      step: '1m',
      query: { kind: 'aggregate', signal: 'traces', measures: [{ function: 'count' }], groupBy: ['service'] },
    },
  });
  t.is(created.status, 200, JSON.stringify(created.body));
  const beginMs = Date.now();
  const anomalyId = (key: string): string => `changed.${key}.${beginMs.toString(36)}`;
  for (const [key, service] of Object.entries({ c: 'calm', n: 'nobody' }))
    await rows(
      'anomalies',
      'time, id, revision, detector_id, detector_name, signals, step_ms, series, name, labels, sign, direction, end_ms, score, value',
      `fromUnixTimestamp64Milli(toInt64(${beginMs}), 'UTC'), '${anomalyId(key)}', 1, '${created.body.id}', 'Calm requests', ['traces'], 60000, '${key}', 'count', map('${key === 'n' ? 'queue' : 'service'}', '${service}'), 'down', 'down', 0, 1, 5`,
    );
  const place = `configuration detector ${created.body.id}`;
  t.is(first(await findRootCause({ anomalyId: anomalyId('c') })), place, 'its requests did not change');
  const gauge = await findRootCause({ anomalyId: anomalyId('n') });
  t.is(first(gauge), place, 'a gauge without traces has no other evidence');
  t.is(gauge.state, 'found');
  t.regex(gauge.causes[0].title, /^anomaly-detector\.create/);
});
