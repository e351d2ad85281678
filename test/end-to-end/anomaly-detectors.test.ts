/** Detectors from end to end: the schedule queries, the processor scores, and the API shows the anomalies. */
import test from 'ava';
import { scheduleTopics, startProcessors } from '../../processors/index.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { anomalyDetectors } from '../../schemas/resources/anomaly-detector.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { topics } from '../../schemas/topics.ts';
import { startSinks } from '../../sinks/index.ts';
import { DetectorFields } from '../../subjects/anomalies/detector.ts';
import { text } from '../cases/sink-tables.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { eventually } from '../waiting.ts';
import { startHarness } from './api-harness.ts';
import { startChromium } from './chromium.ts';
import { portsOf } from './harness-ports.ts';
import { landOtlp, resourceOf } from './land-otlp.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

const environment = { OIQ_SECRET_KEY: 'k'.repeat(40) };
const harness = await startHarness({ environment });
const elsewhere = { as: `token ${await harness.signIn('owner@b.example')}` } as const;
/** Queries of organization b wait for this promise. */
let mayQuery: Promise<void> = Promise.resolve();
const slowed = Object.assign(Object.create(harness.columns) as typeof harness.columns, {
  forTenant(tenantId: string): TenantColumns {
    const own = harness.columns.forTenant(tenantId);
    if (tenantId !== 'b') return own;
    return {
      ...own,
      query: <Row>(...args: Parameters<TenantColumns['query']>) => mayQuery.then(() => own.query<Row>(...args)),
    };
  },
});
const ports = portsOf(harness, environment);
await harness.bus.ensureTopics(scheduleTopics);
const processing = () => startProcessors({ ...ports, columns: slowed, only: ['anomaly-points', 'anomaly-scores'] });
let processors = await processing();
const sinks = await startSinks({
  ...ports,
  embedded: true,
  selectedNames: ['anomaly-scores', 'anomalies', 'anomaly-looks', 'events'],
});
test.after.always(async () => {
  await processors.stop();
  await sinks.stop();
  await harness.close();
});

const startMs = Date.now();
let offset = 0;

/** Inserts records of a service and host at a fixed spacing. Each is received at its own timestamp. */
const insert = (service: string, host: string, fromMs: number, toMs: number, spacingMs: number): Promise<void> =>
  harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type, attributes, attribute_types)
    SELECT 'a', 'p1', fromUnixTimestamp64Milli(toInt64(${fromMs} + number * ${spacingMs}), 'UTC') AS at, 0, ${++offset}, number, at, at, '${service}', 9, '', 'done', 's', map('host.name', '${host}'), 's'
    FROM numbers(${Math.floor((toMs - fromMs) / spacingMs)})`,
  );

/** Events in the form of a collector: three near the start in either format, an old one, and one of organization b. */
const landClusterEvents = async (beginMs: number): Promise<void> => {
  const clusterEvent = (atMs: number, pod: string, reason: string, type: string) => ({
    resource: resourceOf({ 'k8s.object.kind': 'Pod', 'k8s.object.name': pod, 'k8s.node.name': 'n1' }),
    scopeLogs: [
      {
        logRecords: [
          {
            timeUnixNano: `${atMs}000000`,
            severityText: type,
            body: { stringValue: 'killed' },
            attributes: [text('k8s.event.reason', reason), text('k8s.event.uid', `${pod}-${reason}`)],
          },
        ],
      },
    ],
  });
  const watched = (atMs: number, pod: string, reason: string, type: string) => ({
    resource: resourceOf({ 'k8s.cluster.name': 'c1' }),
    scopeLogs: [
      {
        logRecords: [
          {
            timeUnixNano: `${atMs}000000`,
            body: mapOf({ type: 'ADDED', object: { type, reason, involvedObject: { kind: 'Pod', name: pod } } }),
            attributes: [text('k8s.resource.name', 'events')],
          },
        ],
      },
    ],
  });
  const resourceLogs = [
    clusterEvent(beginMs - 20_000, 'shop-1', 'OOMKilling', 'Warning'),
    clusterEvent(beginMs - 10_000, 'shop-1', 'Killing', 'Normal'),
    watched(beginMs - 5_000, 'shop-2', 'BackOff', 'Warning'),
    clusterEvent(beginMs - 2 * 3_600_000, 'shop-0', 'OOMKilling', 'Warning'),
  ];
  await landOtlp(harness.columns, { signal: 'logs', request: { resourceLogs } });
  const others = [clusterEvent(beginMs - 15_000, 'theirs', 'OOMKilling', 'Warning')];
  await landOtlp(harness.columns, { tenantId: 'b', signal: 'logs', request: { resourceLogs: others } });
};

type Tree = { readonly [name: string]: string | Tree };
/** An OTLP body that is an object. */
const mapOf = (tree: Tree): object => ({
  kvlistValue: {
    values: Object.entries(tree).map(([key, value]) => ({
      key,
      value: typeof value === 'string' ? { stringValue: value } : mapOf(value),
    })),
  },
});

const query = { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }], groupBy: ['service'] };
const request = async (method: string, path: string, options: Parameters<typeof harness.request>[2] = {}) => {
  const { status, body } = await harness.request(method, path, options);
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const read = (path: string) => request('GET', path, { as: 'viewer' });

test.serial(
  'a detector learns, finds anomalies, explains what they consist of, and respects user feedback',
  async (t) => {
    const [fromMs, toMs] = [startMs - 3 * 3_600_000, startMs + 20 * 60_000];
    for (const service of ['shop', 'mail']) await insert(service, 'h1', fromMs, toMs, 331);
    const { id, status } = await request('POST', '/api/ai/detectors', {
      body: { name: 'Records', query, step: '10s', delay: '2s', falseAlarmsPerWeek: 0.5, labels: { team: 'shop' } },
    });
    t.is(status.state, 'waiting');
    await eventually(
      'the detector is watching',
      async () => (await read(`/api/ai/detectors/${id}`)).status.state === 'watching',
    );
    const training = (await read(`/api/ai/detectors/${id}`)).status;
    t.is(training.series, 2);
    t.is(training.learning, 0);
    // The history has five weeks of ten-second steps, or all that is retained.
    t.true(Date.parse(training.trainedFrom) < startMs - 6 * 24 * 3_600_000, training.trainedFrom);
    t.is(training.rate.perWeek, null);
    t.is((await read('/api/ai/anomalies')).items.length, 0);

    // The records fill whole steps, so the expected deviation is known.
    const stepMs = Math.ceil(Date.now() / 10_000) * 10_000;
    await insert('shop', 'h2', stepMs, stepMs + 30_000, 10);
    await eventually('the anomaly is found', async () => (await read('/api/ai/anomalies')).items.length > 0);
    const { items } = await read('/api/ai/anomalies');
    t.is(items.length, 1, JSON.stringify(items));
    const [found] = items;
    t.deepEqual(found.series.labels, { service: 'shop' });
    t.is(found.direction, 'up');
    t.is(found.detectorId, id);
    t.true(found.score > 0.9 && found.timesPerWeek < 0.1, JSON.stringify(found));
    t.regex(found.text, /^(higher than expected|risen)/);
    const beginMs = Date.parse(found.begin);
    await landClusterEvents(beginMs);
    const shown = await read(`/api/ai/anomalies/${encodeURIComponent(found.id)}`);
    t.true(shown.points.length > 0);
    t.deepEqual(
      shown.kubernetes.map(({ reason, type, object }: { reason: string; type: string; object: { name: string } }) => [
        ...[reason, type, object.name],
      ]),
      [
        ['BackOff', 'Warning', 'shop-2'],
        ['Killing', 'Normal', 'shop-1'],
        ['OOMKilling', 'Warning', 'shop-1'],
      ],
    );
    const { contributions } = shown;
    t.is(contributions.by, 'host.name');
    t.is(contributions.groups[0].group, 'h2');
    const shares = [...contributions.groups, ...(contributions.others === null ? [] : [contributions.others])];
    t.true(Math.abs(shares.reduce((sum: number, { share }: { share: number }) => sum + share, 0) - 1) < 1e-9);
    await eventually(
      'the feed has the anomaly',
      async () => (await read('/api/events?kinds=anomaly')).items.length > 0,
    );
    const overview = await read('/api/overview?attention=true');
    t.true(
      overview.attention.items.some(
        ({ kind, name }: { kind: string; name: string }) => kind === 'anomaly' && /shop/.test(name),
      ),
    );

    const path = `/api/ai/anomalies/${encodeURIComponent(found.id)}/feedback`;
    const marked = await request('POST', path, { body: { verdict: 'false' } });
    t.true(marked.minChange > 100);
    t.is((await read('/api/ai/anomalies')).items[0].verdict, 'false');
    t.is((await read(`/api/ai/detectors/${id}`)).status.rate.falsePositives, 1);
    t.deepEqual(await request('POST', path, { body: { verdict: null } }), {
      anomalyId: found.id,
      verdict: null,
      minChange: 0,
      factor: 1,
    });
    const audit = await request('GET', '/api/audit?action=anomaly.mark', { as: 'owner' });
    t.is(audit.items.length, 2);
    for (const each of [`/api/ai/anomalies/${encodeURIComponent(found.id)}`, `/api/ai/detectors/${id}`])
      t.true([403, 404].includes((await harness.request('GET', each, elsewhere)).status));
  },
);

/** The progress of the detectors of an organization. */
const detectorProgressOf = (tenantId: string) =>
  harness.columns
    .forTenant(tenantId)
    .query<{ series: number }>('SELECT series FROM anomaly_looks FINAL WHERE tenant_id = {tenant:String}');

const inThePage = chromiumMissing === undefined ? test.serial : test.serial.skip;

inThePage(
  'the page shows an anomaly with its band and parts, heeds what people say, and writes detectors',
  async (t) => {
    const chromium = await startChromium();
    t.teardown(() => chromium.close());
    const tab = await chromium.open();
    const { page } = tab;
    const [anomaly] = (await read('/api/ai/anomalies')).items;
    const shown = await read(`/api/ai/anomalies/${encodeURIComponent(anomaly.id)}`);
    await signInAndOpen(tab, harness.url, '/anomalies', 'editor@a.example');
    const row = page.getByRole('row', { name: /service=shop/ });
    await row.getByRole('button').click();
    const sidePanel = page.getByRole('complementary', { name: 'Anomaly' });
    await sidePanel.getByText(anomaly.text, { exact: true }).waitFor();
    await sidePanel.locator('.plot[aria-label*="expected range: 4 series"]').waitFor();
    const [part] = shown.contributions.groups;
    await sidePanel.getByText('Warning OOMKilling shop-1: killed').waitFor();
    await sidePanel
      .getByRole('row', { name: new RegExp(`${part.group}.*${(100 * part.share).toFixed(1)} %`) })
      .waitFor();
    await assertView(t, tab, '.beside h2');
    await sidePanel.getByRole('button', { name: 'False positive' }).click();
    await row.getByRole('cell', { name: 'false positive', exact: true }).waitFor();
    t.is((await read('/api/ai/anomalies')).items[0].verdict, 'false');
    await sidePanel.getByRole('button', { name: 'False positive', pressed: true }).click();
    await sidePanel.getByRole('button', { name: 'False positive', pressed: false }).waitFor();
    t.is((await read('/api/ai/anomalies')).items[0].verdict, null);

    await page.getByRole('navigation', { name: 'Anomalies' }).getByRole('link', { name: 'Detectors' }).click();
    await page.getByRole('row', { name: /Records.*watching/ }).waitFor();
    await page.getByRole('button', { name: 'New detector' }).click();
    const form = page.getByRole('complementary', { name: 'Detector' });
    await form.getByLabel('Interval').fill('1s');
    await form.getByRole('button', { name: 'Create detector' }).click();
    await form.getByText('must be a duration from 10s to 1d, such as 30s, 5m or 1h').waitFor();
    await form.getByLabel('Name').fill('By <b>hand</b>');
    await form.getByLabel('Interval').fill('1m');
    await form.getByRole('button', { name: 'Test detector' }).click();
    // Records of clusters have no service.
    await form.getByText(/^3 series; \d+ anomalies/).waitFor();
    await form.getByRole('button', { name: 'Create detector' }).click();
    await form.getByRole('heading', { name: 'By <b>hand</b>' }).waitFor();
    await form.getByText('interval', { exact: true }).waitFor();
    await assertView(t, tab, '.beside h2');
    t.like((await read('/api/ai/detectors?search=hand')).items[0], { step: '1m', query: { groupBy: ['service'] } });
    await form.getByRole('button', { name: 'Edit' }).click();
    await form.getByLabel('Minimum change').fill('7');
    await form.getByRole('button', { name: 'Save detector' }).click();
    await form.getByRole('button', { name: 'Delete' }).waitFor();
    t.is((await read('/api/ai/detectors?search=hand')).items[0].minChange, 7);
    await form.getByRole('button', { name: 'Delete' }).click();
    await form.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
    await form.waitFor({ state: 'detached' });
    t.is((await read('/api/ai/detectors')).items.length, 1);
    t.deepEqual(tab.complaints, []);
  },
);

test.serial('an input that cannot be watched is refused with its path', async (t) => {
  const refused = async (body: object) => {
    const response = await harness.request('POST', '/api/ai/detectors', { body: { name: 'Wrong', ...body } });
    t.is(response.status, 400, JSON.stringify(response.body));
    return response.body.error?.details ?? response.body.details;
  };
  const paths = async (body: object) => (await refused(body)).map(({ path }: { path: string }) => path);
  t.deepEqual(await paths({ query: { kind: 'rows', signal: 'logs' } }), ['query.kind']);
  t.deepEqual(await paths({ query: { kind: 'check', checkId: 'c' } }), ['query.kind']);
  t.deepEqual(await paths({ query: { ...query, search: 'severity:(' } }), ['query.search']);
  t.deepEqual(await paths({ query: { kind: 'promql', expression: 'sum(' } }), ['query.expression']);
  t.deepEqual(await paths({ query, step: '1s' }), ['step']);
});

test.serial(
  'three series are scored while the 10,000 series of another organization are slow to query and learn',
  async (t) => {
    const many = 10_000;
    const historySteps = 700;
    const [{ id }] = (await read('/api/ai/detectors')).items;
    const status = async () => (await read(`/api/ai/detectors/${id}`)).status;
    const stepsOn = async (steps: number): Promise<void> => {
      const from = Date.parse((await status()).lastStep);
      await eventually(
        `${steps} more steps are scored`,
        async () => Date.parse((await status()).lastStep) - from >= steps * 10_000,
      );
    };
    // Recent records determine the number of series; old ones determine where the training history begins.
    const nowMs = Math.floor(Date.now() / 10_000) * 10_000;
    const steps = `arrayConcat(range(20), range(${historySteps} - 30, ${historySteps} + 10))`;
    await harness.columns.execute(
      `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
    SELECT 'b', 'p1', fromUnixTimestamp64Milli(toInt64(${nowMs} - 9000 - 10000 * step), 'UTC') AS at, 0, ${++offset}, number, at, at, concat('s', toString(number)), 9, '', 'done', 's'
    FROM numbers(${many}) ARRAY JOIN ${steps} AS step`,
    );
    await harness.documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .update('b', { planId: 'enterprise' });
    const { promise, resolve } = Promise.withResolvers<void>();
    mayQuery = promise;
    // More detectors with other queries, so that more of them wait than can run at once.
    const others = harness.documents.forTenant('b').collection(anomalyDetectors);
    const searches = ['', ...Array.from({ length: 6 }, (_, nth) => `service:s${nth}`)];
    for (const [nth, search] of searches.entries()) {
      const step = nth === 0 ? '10s' : '1h';
      const fields = DetectorFields.parse({ name: `${nth}`, query: { ...query, search }, step, delay: '2s' });
      await others.insert({ id: `other-${nth}`, ...fields, queryVersion: 1 });
    }
    await stepsOn(2);
    t.true((await detectorProgressOf('b')).every(({ series }) => series === 0));
    resolve();
    await eventually('the detectors are trained', async () =>
      (await detectorProgressOf('b')).some(({ series }) => series === many),
    );
    await stepsOn(2);
    for (const nth of searches.keys()) await others.delete(`other-${nth}`);
  },
);

test.serial('a stalled detector is reported as such, in its status and in the overview', async (t) => {
  await processors.stop();
  await eventually('all output is stored', async () => {
    const lags = await harness.bus.lag('sinks.anomaly-looks', [topics.anomalyEvaluations.name]);
    return lags.every(({ lag }) => lag === 0);
  });
  const before = await read('/api/ai/detectors');
  const [{ id }] = before.items;
  // Simulates processors that were down for twenty minutes.
  await harness.columns.execute(
    `INSERT INTO anomaly_looks SELECT * REPLACE (up_to_ms - 1200000 AS up_to_ms, revision + 1 AS revision) FROM anomaly_looks FINAL`,
  );
  const { status } = await read(`/api/ai/detectors/${id}`);
  t.is(status.state, 'behind');
  t.true(status.lagSeconds > 1000);
  // A different range, because the result of the previous one is cached for some seconds.
  const { attention } = await read('/api/overview?attention=true&from=now-2h');
  const item = attention.items.find(({ kind }: { kind: string }) => kind === 'detector');
  t.is(item?.name, 'Records');
  t.regex(item?.reason ?? '', /^it is \d+ minutes behind: the last step that was scored ended 20/);
  processors = await processing();
  await eventually('it has caught up', async () => (await read(`/api/ai/detectors/${id}`)).status.state === 'watching');
});
