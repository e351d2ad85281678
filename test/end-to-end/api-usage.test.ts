/** Usage, quotas and plans through the API, over a ledger with known rows. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { applyPlans, readPlans } from '../../commands/plans.ts';
import { ledgerGroups } from '../../runtime/ledger-groups.ts';
import { buildLicenseKey, licenseKeys } from '../../schemas/resources/license-key.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { projects } from '../../schemas/resources/project.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { usageTable } from '../../schemas/tables/usage.ts';
import { sinkGroups } from '../../sinks/index.ts';
import { type Harness, startHarness } from './api-harness.ts';

/** A Tuesday in the middle of a month. */
const now = Date.parse('2026-03-10T12:30:00Z');

let harness: Harness;
let ownerOfB = '';
let clockMs = now;

interface Row {
  readonly tenant?: string;
  readonly at: string;
  readonly outcome?: string;
  readonly signal?: string;
  readonly key?: string;
  readonly project?: string;
  readonly service?: string;
  readonly reason?: string;
  readonly id?: string;
  readonly requests?: number;
  readonly records?: number;
  readonly bytes?: number;
  readonly landed?: readonly [records: number, bytes: number];
}
let offset = 0;
const valuesOf = (row: Row): string => {
  const landed = row.landed ?? [0, 0];
  const texts = [row.tenant ?? 'a', row.at, row.signal ?? 'logs', row.project ?? 'shop', row.key ?? 'key-1'];
  const kinds = [row.outcome ?? 'accepted', row.reason ?? '', row.service ?? ''];
  const quoted = [...texts, ...kinds].map((text) => `'${text}'`);
  const numbers = [row.requests ?? 1, row.records ?? 0, row.bytes ?? 0, ...landed];
  return `(${[...quoted, 0, offset++, `'${row.id ?? ''}'`, ...numbers].join(', ')})`;
};
const insert = (rows: readonly Row[]): Promise<void> =>
  harness.columns.execute(
    `INSERT INTO usage (${Object.keys(usageTable.columns).join(', ')}) VALUES ${rows.map(valuesOf).join(', ')}`,
  );

const fresh = { headers: { 'cache-control': 'no-cache' } };

test.before(async () => {
  harness = await startHarness({ now: () => clockMs, environment: { OIQ_SELF_SERVICE_PLANS: 'true' } });
  ownerOfB = `token ${await harness.signIn('owner@b.example')}`;
  const documents = harness.documents.forTenant('a');
  await documents.collection(projects).insert({ id: 'shop', name: 'The shop', description: '' } as never);
  await documents
    .collection(licenseKeys)
    .insert({ id: 'key-1', ...buildLicenseKey('a key', { name: 'First', projectId: 'shop', expiresAt: null }) });
  await insert([
    { at: '2026-02-20 00:00:00', records: 1, bytes: 1 },
    { at: '2026-03-08 05:00:00', service: 'cart', records: 10, bytes: 1_000, landed: [6, 600] },
    { at: '2026-03-08 05:00:00', service: 'web', requests: 0, landed: [4, 400] },
    { at: '2026-03-09 23:00:00', service: 'cart', records: 20, bytes: 2_000, landed: [20, 2_000], key: 'key-2' },
    { at: '2026-03-10 11:00:00', signal: 'traces', records: 5, bytes: 500, landed: [5, 500], service: 'cart' },
    { at: '2026-03-10 12:00:00', records: 7, bytes: 700 },
    { at: '2026-03-10 12:00:00', outcome: 'dead-lettered', reason: 'malformed', id: 'd1', records: 7, bytes: 700 },
    { at: '2026-03-10 12:00:00', outcome: 'refused', reason: 'bad-utf8', id: 'd2', bytes: 50 },
    {
      at: '2026-03-10 12:00:00',
      outcome: 'rejected',
      reason: 'quota',
      id: 'r1',
      requests: 3,
      records: 30,
      bytes: 3_000,
    },
    { at: '2026-03-10 12:00:00', outcome: 'rejected', reason: 'rate-limited', id: 'r1', requests: 90 },
    { tenant: 'b', at: '2026-03-10 12:00:00', records: 1_000_000, bytes: 2_000_000_000 },
  ]);
  await harness.columns.execute(
    "INSERT INTO dead_letter_marks (tenant_id, id, outcome, marked_at) VALUES ('a', 'd2', 'discarded', now64(3)), ('b', 'd1', 'discarded', now64(3))",
  );
});
test.after.always(() => harness?.close());

test.serial('a month is reported by signal and outcome, and both sides of the ledger agree', async (t) => {
  const { status, body } = await harness.request('GET', '/api/usage', { as: 'viewer' });
  t.is(status, 200);
  t.deepEqual(body.period, { from: '2026-03-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' });
  const { logs, traces } = body.signals;
  t.deepEqual(logs.accepted, { requests: 3, records: 37, bytes: 3_700 });
  t.deepEqual(logs.landed, { records: 30, bytes: 3_000 });
  t.deepEqual(logs.deadLettered, { requests: 1, records: 7, bytes: 700 });
  t.deepEqual(logs.refused, { requests: 1, records: 0, bytes: 50 });
  t.deepEqual(logs.dropped, { requests: 1, records: 0, bytes: 50 });
  t.deepEqual(logs.rejected, { requests: 93, records: 30, bytes: 3_000 });
  t.deepEqual(logs.rejectedBy, [
    { reason: 'quota', requests: 3, records: 30, bytes: 3_000 },
    { reason: 'rate-limited', requests: 90, records: 0, bytes: 0 },
  ]);
  t.deepEqual(traces.accepted, { requests: 1, records: 5, bytes: 500 });
  const { total } = body;
  t.is(total.accepted.records + total.replayed.records, total.landed.records + total.deadLettered.records);
  t.is(body.today.bytes, 1_200);
  t.is(body.today.limitBytes, null);
  t.is(body.today.share.value, null);
  // Today already exceeds its forecast, so 0 remain. The other 21 days have at most the largest past value.
  t.is(total.forecast.bytes.reason, null);
  t.true(total.forecast.bytes.value >= 4_200 && total.forecast.bytes.value < 4_200 + 3_000 * 21);
  t.deepEqual(body.pending.messages, { value: 0, reason: null });
});

test.serial('another organization sees only its own usage, and too little history is reported', async (t) => {
  const { body } = await harness.request('GET', '/api/usage', { as: ownerOfB as never });
  t.deepEqual(body.total.accepted, { requests: 1, records: 1_000_000, bytes: 2_000_000_000 });
  t.deepEqual(body.total.dropped, { requests: 0, records: 0, bytes: 0 });
  t.is(body.total.forecast.bytes.value, null);
  t.regex(body.total.forecast.bytes.reason, /complete days of history: 0;/);
  t.true(body.today.share.value > 1.8);
});

test.serial('a result is cached for 5 minutes, and returned with its age, unless a new one is requested', async (t) => {
  const before = (await harness.request('GET', '/api/usage?projectId=shop')).body;
  clockMs += 120_000;
  await insert([{ at: '2026-03-10 12:00:00', signal: 'metrics', records: 1, bytes: 1, landed: [1, 1], key: 'key-3' }]);
  const again = await harness.request('GET', '/api/usage?projectId=shop');
  t.deepEqual(again.body, before);
  t.is(again.body.asOf, new Date(now).toISOString());
  t.is(again.headers.get('age'), '120');
  const refreshed = (await harness.request('GET', '/api/usage?projectId=shop', fresh)).body;
  t.is(refreshed.signals.metrics.accepted.records, 1);
});

const series = async (query: string) => (await harness.request('GET', `/api/usage/timeseries?${query}`, fresh)).body;
const totals = (body: {
  series: {
    id: string;
    name: string | null;
    points: { at: string; landed: { bytes: number }; accepted: { bytes: number } | null }[];
  }[];
}) =>
  body.series.map(({ id, name, points }) => [
    id,
    name,
    ...points.map(({ at, landed, accepted }) => `${at.slice(5, 13)} ${accepted?.bytes}/${landed.bytes}`),
  ]);

test.serial('volume over time is grouped by project, key, signal and service', async (t) => {
  t.deepEqual(totals(await series('by=project&from=2026-03-08T00:00:00Z')), [
    ['shop', 'The shop', '03-08T00 1000/1000', '03-09T00 2000/2000', '03-10T00 1201/501'],
  ]);
  t.deepEqual(totals(await series('by=key&signal=logs&from=2026-03-08T00:00:00Z')), [
    ['key-2', null, '03-09T00 2000/2000'],
    ['key-1', 'First', '03-08T00 1000/1000', '03-10T00 700/0'],
  ]);
  t.deepEqual(totals(await series('by=service&step=hour&from=2026-03-08T05:10:00Z&to=2026-03-10T12:00:00Z')), [
    ['cart', 'cart', '03-08T05 undefined/600', '03-09T23 undefined/2000', '03-10T11 undefined/500'],
    ['web', 'web', '03-08T05 undefined/400'],
  ]);
  const limited = await series('by=signal&limit=1&from=2026-03-08T00:00:00Z');
  t.deepEqual([limited.series.length, limited.excluded], [1, 2]);
  const rejected = await series('by=none&step=hour&from=now-1h');
  t.deepEqual(rejected.series[0].points.at(-1).rejected, { requests: 93, records: 30, bytes: 3_000 });
});

for (const [query, path] of [
  ['from=now&to=now-1h', 'from'],
  ['step=hour&from=2025-01-01T00:00:00Z', 'from'],
  ['from=nonsense', 'from'],
  ['to=2262-01-01T00:00:00Z&from=2261-12-31T00:00:00Z', 'to'],
  ['by=colour', 'by'],
  ['limit=101', 'limit'],
] as const) {
  test.serial(`a time series of ${query} is refused`, async (t) => {
    const { status, body } = await harness.request('GET', `/api/usage/timeseries?${query}`);
    t.is(status, 400);
    t.deepEqual(
      body.details.map((detail: { path: string }) => detail.path),
      [path],
    );
  });
}

test.serial('quotas can be read, edited and sent back; they warn and reject', async (t) => {
  const empty = await harness.request('GET', '/api/usage/quotas', { as: 'viewer' });
  t.is(empty.headers.get('etag'), '"0"');
  t.deepEqual(empty.body.states, []);
  const edited = structuredClone(empty.body);
  edited.day.total = { warnBytes: 1_000, rejectBytes: 5_000 };
  edited.month.logs.rejectBytes = 100;
  const put = await harness.request('PUT', '/api/usage/quotas', {
    as: 'admin',
    body: edited,
    headers: { 'if-match': '"0"' },
  });
  t.is(put.status, 200);
  t.deepEqual(
    put.body.states.map(({ window, scope, state, usedBytes }: Record<string, unknown>) => [
      window,
      scope,
      state,
      usedBytes,
    ]),
    [
      ['day', 'total', 'warning', 1_201],
      ['month', 'logs', 'rejecting', 3_700],
    ],
  );
  const stale = await harness.request('PUT', '/api/usage/quotas', { body: edited, headers: { 'if-match': '"0"' } });
  t.is(stale.status, 412);
  const again = await harness.request('PUT', '/api/usage/quotas', { body: put.body });
  t.deepEqual([again.status, again.body.states], [200, put.body.states]);
  const inverted = { day: { total: { warnBytes: 10, rejectBytes: 9 } }, month: {} };
  const refused = await harness.request('PUT', '/api/usage/quotas', { body: inverted });
  t.deepEqual([refused.status, refused.body.details[0].path], [400, 'day.total.warnBytes']);
  t.is((await harness.request('PUT', '/api/usage/quotas', { as: 'editor', body: edited })).status, 403);
  const ofB = await harness.request('GET', '/api/usage/quotas', { as: ownerOfB as never });
  t.deepEqual(
    ofB.body.states.map(({ scope, setBy, state }: Record<string, unknown>) => [scope, setBy, state]),
    [['total', 'plan', 'rejecting']],
  );
});

test.serial('entitlements state which plans include what this plan lacks', async (t) => {
  const { body } = await harness.request('GET', '/api/entitlements', { as: ownerOfB as never });
  const traces = body.entitlements.find(({ name }: { name: string }) => name === 'traces');
  t.false(traces.enabled);
  t.deepEqual(
    traces.plans.map(({ id }: { id: string }) => id),
    ['enterprise'],
  );
  t.deepEqual(body.retentionDays, defaultPlans['free']?.retentionDays);
});

const plansIn = async (content: string) => {
  const path = join(harness.directory, 'plans.json');
  await writeFile(path, content);
  return readPlans(parseSettings({ OIQ_PLANS_FILE: path }));
};

test.serial('plans are loaded from a file, with prices; a file with an error is refused as a whole', async (t) => {
  const priced = {
    ...defaultPlans['free'],
    name: 'Starter',
    price: { currency: 'EUR', perMonth: 5, perGigabyte: { logs: 2, metrics: 1, traces: null } },
  };
  const hidden = { ...defaultPlans['enterprise'], name: 'By contract', selfService: false };
  await applyPlans(harness.documents, await plansIn(JSON.stringify({ starter: priced, contract: hidden })));
  await applyPlans(harness.documents, await plansIn(JSON.stringify({ starter: priced, contract: hidden })));
  t.is(
    (await harness.documents.forTenant(plansTenant).collection(plans).find('starter'))?.version,
    1,
    'nothing changed',
  );
  for (const wrong of ['no json', '[]', JSON.stringify({ starter: { ...priced, price: { currency: 'euro' } } })]) {
    await t.throwsAsync(plansIn(wrong), { message: /OIQ_PLANS_FILE/ });
  }
  await t.throwsAsync(readPlans(parseSettings({ OIQ_PLANS_FILE: '/no/such/file' })), {
    message: /cannot be read/,
  });
  const { body } = await harness.request('GET', '/api/plans', { as: 'viewer' });
  t.deepEqual(
    body.items.map(({ id, current, available, price }: Record<string, unknown>) => [
      id,
      current,
      available,
      price !== null,
    ]),
    [
      ['free', false, true, false],
      ['starter', false, true, true],
      ['contract', false, false, false],
      ['enterprise', true, true, false],
    ],
  );
});

test.serial(
  'a smaller plan lists what is lost, takes effect at once when this is accepted, and is recorded',
  async (t) => {
    const { body: unpriced } = await harness.request('GET', '/api/billing', { as: 'admin' });
    t.deepEqual(unpriced.cost.total, { value: null, reason: 'the plan has no price' });
    await harness.request('PUT', '/api/account/retention', { body: { days: { logs: 30 } } });
    const planChange = { planId: 'starter' };
    const refused = await harness.request('PUT', '/api/billing/plan', { body: planChange });
    t.is(refused.status, 409);
    const lost = refused.body.details.map((detail: { path: string }) => detail.path);
    t.true(lost.includes('retentionDays.logs') && lost.includes('entitlements.traces'), String(lost));
    t.is((await harness.request('GET', '/api/traces?scope=account')).status, 200);

    const changed = await harness.request('PUT', '/api/billing/plan', {
      as: 'admin',
      body: { ...planChange, acceptLosses: true },
    });
    t.is(changed.status, 200);
    t.deepEqual([changed.body.previousPlan.id, changed.body.plan.id], ['enterprise', 'starter']);
    t.is((await harness.request('GET', '/api/traces?scope=account')).body.error, 'UPGRADE_REQUIRED');
    t.is(
      (await harness.request('GET', '/api/account/retention')).body.days.logs,
      null,
      'settings above the plan are removed',
    );
    const { body: billing } = await harness.request('GET', '/api/billing', { as: 'admin' });
    t.is(billing.currency, 'EUR');
    t.deepEqual(billing.cost.signals.logs, { value: 0, reason: null });
    t.deepEqual(billing.cost.total, { value: null, reason: 'traces have no price on this plan' });
    const records = await harness.request('GET', '/api/audit?limit=100');
    if (records.status === 200) t.true(JSON.stringify(records.body).includes('organization.change-plan'));

    t.is((await harness.request('PUT', '/api/billing/plan', { body: { planId: 'contract' } })).status, 403);
    t.is((await harness.request('PUT', '/api/billing/plan', { body: { planId: 'none' } })).status, 400);
    t.is((await harness.request('PUT', '/api/billing/plan', { body: { planId: 'enterprise' } })).body.losses.length, 0);
  },
);

test.serial('an operation that reads a signal requires its entitlement, whatever the operation declares', async (t) => {
  const tracesAlone = { ...defaultPlans['enterprise'], name: 'Traces', entitlements: ['traces'] };
  await applyPlans(harness.documents, await plansIn(JSON.stringify({ 'traces-alone': tracesAlone })));
  const change = (planId: string) =>
    harness.request('PUT', '/api/billing/plan', { body: { planId, acceptLosses: true }, headers: { 'if-match': '*' } });
  t.is((await change('traces-alone')).status, 200);
  t.is((await harness.request('GET', '/api/traces?scope=account')).status, 200);
  const logs = await harness.request('GET', `/api/traces/${'ab'.repeat(16)}/logs`);
  t.deepEqual([logs.status, logs.body.error], [403, 'UPGRADE_REQUIRED']);
  t.is((await change('enterprise')).status, 200);
});

test('the ledger waits only for the consumers that write it', (t) => {
  const all = sinkGroups.map(({ group, topics }) => ({ group, topics }));
  t.deepEqual(
    ledgerGroups.map(({ group, topics }) => ({ group, topics: [...topics] })),
    all.filter(({ group }) => ledgerGroups.some((ours) => ours.group === group)),
  );
  t.deepEqual(ledgerGroups.map(({ group }) => group).sort(), [
    'sinks.dead-letters',
    'sinks.logs',
    'sinks.metrics',
    'sinks.traces',
    'sinks.usage',
  ]);
});
