/** Security of snapshots: what they contain, how long they last, and what responses to wrong links disclose. */
import test from 'ava';
import type { Documents } from '../../schemas/ports/documents.ts';
import { dashboardSnapshots } from '../../schemas/resources/dashboard-snapshot.ts';
import { type Answer, type Harness, startHarness, withRetries } from './api-harness.ts';

let harness: Harness;
const nowMs = Date.now();
const fill = async (): Promise<void> => {
  const at = `fromUnixTimestamp64Milli(toInt64(${nowMs - 60_000}), 'UTC')`;
  for (const tenant of ['a', 'b'])
    await harness.columns.execute(
      `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type, attributes, attribute_types)
      SELECT '${tenant}', 'secret-project', ${at}, 0, 1, number, ${at} - number, ${at}, 'secret-service-${tenant}', 9, '', 'secret-body-${tenant}', 's', map('user', 'secret-user-${tenant}', 'zone', 'shown-zone-${tenant}'), 'ss' FROM numbers(5)`,
    );
  await harness.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, source, service, resource_id, attributes, attribute_types, first_seen, last_seen)
    SELECT 'a', 'p1', 'secret_metric', 1, 'gauge', 2, 1, '', 'prometheus', '', 7, map('job', 'secret-job', 'zone', 'shown-zone-a'), 'ss', ${at}, ${at}`,
  );
  await harness.columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value) SELECT 'a', 'p1', ${at}, 0, 1, 'secret_metric', 1, ${at} - 15 * number, 4711 FROM numbers(20)`,
  );
};

type As = NonNullable<Parameters<Harness['request']>[2]>['as'];
type Fields = Record<string, unknown>;

const promql = (expression: string): Fields => ({ kind: 'promql', expression });
const fields = {
  name: 'Shown',
  description: 'secret-description',
  folder: 'secret-folder',
  tags: ['secret-tag'],
  variables: [{ kind: 'label-values', name: 'job', label: 'job' }],
  links: [{ kind: 'address', url: 'https://secret.example/x', title: 'secret-link' }],
  panels: [
    {
      id: 'secret-panel',
      title: 'Of $job',
      description: 'secret',
      visual: { kind: 'time-series' },
      queries: [
        { name: 'A', query: promql('sum by (job, zone) (secret_metric)') },
        { name: 'B', query: promql('secret_metric'), legend: '{{zone}} of {{job}}' },
        { name: 'C', query: promql('sum(secret_metric'), hidden: false },
      ],
      formulas: [{ name: 'F', expression: 'A * 1' }],
      fields: { unit: 'By', links: [{ title: 'secret', url: '/secret' }] },
      links: [{ title: 'secret', url: 'https://secret.example' }],
      repeat: { variable: 'job' },
    },
    {
      id: 'secret-table',
      title: 'Table',
      visual: { kind: 'table' },
      queries: [
        {
          name: 'A',
          answers: 'table',
          query: {
            kind: 'aggregate',
            signal: 'logs',
            groupBy: ['service', 'user', 'zone'],
            measures: [{ function: 'count' }],
          },
        },
        { name: 'B', query: { kind: 'rows', signal: 'logs' } },
      ],
      transformations: [{ kind: 'merge' }],
    },
    { id: 'secret-text', title: 'Text', visual: { kind: 'text', content: 'secret-text' } },
    { id: 'secret-gone', title: 'Gone', visual: { kind: 'placeholder', sourceType: 'x', queries: ['secret-query'] } },
  ],
};

const dashboard = async (more: Fields = {}): Promise<string> => {
  const created = await harness.request('POST', '/api/dashboards', { as: 'owner', body: { ...fields, ...more } });
  if (created.status !== 200) throw new Error(JSON.stringify(created.body));
  return created.body.id;
};
const snapshot = async (id: string, body: Fields = {}, as: As = 'editor'): Promise<Answer> =>
  harness.request('POST', `/api/dashboards/${id}/snapshots`, { as, body });
const open = (token: string): Promise<Answer> =>
  harness.request('GET', `/api/shared-snapshots/${token}`, { as: 'nobody' });

/** Inserts snapshots that were created before. */
const insertSnapshots = async (dashboardId: string, count: number): Promise<void> => {
  const stored = harness.documents.forTenant('a').collection(dashboardSnapshots);
  const expiresAt = new Date(nowMs + 86_400_000).toISOString();
  const created = { dashboardId, createdBy: 'u', expiresAt, tokenHash: 'h', labels: [], bodies: false, opened: 0 };
  for (let at = 0; at < count; at++)
    await stored.insert({ id: `${dashboardId}-${at}`, name: `made ${at}`, ...created });
};

/** The suite over one document store; by default the embedded one. */
export const snapshotsSuite = (store: string, openDocuments?: () => Promise<Documents>): void => {
  test.before(async () => {
    harness = withRetries(await startHarness({ openDocuments }));
    await fill();
  });
  test.after.always(() => harness?.close());

  test.serial(`${store}: a snapshot shows figures, and nothing that was not shared`, async (t) => {
    const id = await dashboard();
    const created = await snapshot(id, { labels: ['zone', 'id', 'traceId', 'attributes', 'resource'] });
    t.is(created.status, 200, JSON.stringify(created.body));
    const { status, body, headers } = await open(created.body.token);
    t.is(status, 200);
    const text = JSON.stringify(body);
    t.false(/secret/i.test(text), text);
    t.false(text.includes(id));
    t.true(text.includes('4711'));
    t.true(text.includes('shown-zone-a'));
    t.is(headers.get('cache-control'), 'no-store');
    t.regex(headers.get('x-robots-tag') ?? '', /noindex/);
    t.is(headers.get('referrer-policy'), 'no-referrer');
    t.is(body.panels[0].results.B.series[0].name, 'shown-zone-a of ');
    t.is(body.panels[0].results.A.series[0].name, 'A');
    t.true(body.panels[0].hasFailed);
    const whole = JSON.stringify((await open((await snapshot(id, { bodies: true })).body.token)).body);
    t.true(whole.includes('secret-body-a'));
    t.false(/secret-(?:user|service|job|project)|-b"/.test(whole));
  });

  test.serial(`${store}: a snapshot excludes data that its creator may not read`, async (t) => {
    const stranger = await harness.signIn('editor@b.example');
    const id = await dashboard();
    t.is((await snapshot(id, {}, `token ${stranger}`)).status, 404);
    t.is((await snapshot(await dashboard({ visibility: 'private' }), {})).status, 404);
    t.is((await snapshot(id, {}, 'viewer')).status, 403);
    const own = await harness.request('POST', '/api/dashboards', { as: `token ${stranger}`, body: fields });
    const created = await snapshot(own.body.id, { labels: ['zone', 'service'], bodies: true }, `token ${stranger}`);
    const text = JSON.stringify((await open(created.body.token)).body);
    t.false(/-a"|4711/.test(text), text);
  });

  test.serial(
    `${store}: unknown, changed, expired and revoked links all return the same 404, after the same reads`,
    async (t) => {
      const id = await dashboard();
      const [active, deleted, late] = await Promise.all(
        [{}, {}, { expiresInDays: 1 }].map((body) => snapshot(id, body)),
      );
      const { token } = active?.body ?? {};
      t.true(Buffer.from(String(token).slice(3), 'base64url').length >= 32);
      t.is(Math.round((Date.parse(active?.body.expiresAt) - Date.parse(active?.body.createdAt)) / 86_400_000), 7);
      t.is((await open(deleted?.body.token)).status, 200);
      t.is((await open(late?.body.token)).status, 200);
      const revoked = await harness.request('DELETE', `/api/snapshots/${deleted?.body.id}`, { as: 'editor' });
      t.is(revoked.status, 200, JSON.stringify(revoked.body));
      const past = new Date(nowMs - 1).toISOString();
      await harness.documents.forTenant('a').collection(dashboardSnapshots).update(late?.body.id, { expiresAt: past });
      const wrong = [
        deleted?.body.token,
        late?.body.token,
        `${token}A`,
        `${String(token).slice(0, -1)}`,
        'v1.AAAA',
        'x',
        'a'.repeat(512),
      ];
      const responses = await Promise.all(wrong.map(open));
      for (const { status, body, headers } of responses) {
        t.is(status, 404);
        t.deepEqual({ ...body, requestId: '' }, { ...responses[0]?.body, requestId: '' });
        t.regex(headers.get('x-robots-tag') ?? '', /noindex/);
      }
      t.is((await open(token)).status, 200);
      const listed = await harness.request('GET', `/api/dashboards/${id}/snapshots`, { as: 'viewer' });
      t.deepEqual(
        listed.body.items.map((one: { id: string; opened: number }) => [one.id, one.opened]),
        [[active?.body.id, 1]],
      );
      t.false(JSON.stringify(listed.body).includes(token));
      for await (const stored of harness.documents.findInAllTenants(dashboardSnapshots))
        t.false(JSON.stringify(stored).includes(token));
      t.is((await snapshot(id, { expiresInDays: 91 })).status, 400);
    },
  );

  test.serial(
    `${store}: an Editor can revoke their own snapshots, an Admin all, and nobody those of another organization`,
    async (t) => {
      const id = await dashboard();
      const revoke = (one: Answer, as: NonNullable<As>) =>
        harness.request('DELETE', `/api/snapshots/${one.body.id}`, { as });
      const ofOwner = await snapshot(id, {}, 'owner');
      const stranger = await harness.signIn('owner@b.example');
      t.is((await revoke(ofOwner, `token ${stranger}`)).status, 404);
      t.is((await revoke(ofOwner, 'viewer')).status, 403);
      t.is((await revoke(ofOwner, 'editor')).status, 403);
      t.is((await open(ofOwner.body.token)).status, 200);
      t.is((await revoke(ofOwner, 'admin')).status, 200);
      t.is((await open(ofOwner.body.token)).status, 404);
      const own = await snapshot(id);
      t.is((await revoke(own, 'editor')).status, 200);
      const last = await snapshot(id);
      const { version } = (await harness.request('GET', `/api/dashboards/${id}`, { as: 'owner' })).body;
      await harness.request('DELETE', `/api/dashboards/${id}`, {
        as: 'owner',
        headers: { 'if-match': `"${version}"` },
      });
      t.is((await open(last.body.token)).status, 404);
    },
  );

  test.serial(`${store}: a dashboard has at most a hundred snapshots, and their list is paged`, async (t) => {
    const id = await dashboard({ panels: [] });
    await insertSnapshots(id, 99);
    t.is((await snapshot(id, { name: 'last' })).status, 200);
    const refused = await snapshot(id);
    t.is(refused.status, 409, JSON.stringify(refused.body));
    t.regex(JSON.stringify(refused.body), /100 snapshots/);
    const page = (query: string): Promise<Answer> =>
      harness.request('GET', `/api/dashboards/${id}/snapshots?${query}`, { as: 'viewer' });
    const named = ({ body }: Answer): string[] => body.items.map(({ name }: { name: string }) => name);
    const names: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const response: Answer = await page(`limit=40${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      names.push(...named(response));
      cursor = response.body.nextCursor;
    }
    t.is(names.length, 100);
    t.is(new Set(names).size, 100);
    t.deepEqual(named(await page('search=LAST')), ['last']);
    // An expired snapshot makes room for a new one.
    const past = new Date(nowMs - 1).toISOString();
    await harness.documents.forTenant('a').collection(dashboardSnapshots).update(`${id}-0`, { expiresAt: past });
    t.is((await snapshot(id)).status, 200);
  });

  test.serial(`${store}: attempts are limited by address`, async (t) => {
    const statuses = new Set<number>();
    for (let tries = 0; tries < 200; tries++) statuses.add((await open(`v1.${tries}`)).status);
    t.true(statuses.has(429));
  });
};
