/**
 * Two organizations with dashboards of the same ids: no operation on dashboards and templates shows or changes data of
 * the other organization.
 */
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import type { OperationRequest, World } from '../contract/example.ts';
import { canaryOf } from '../contract/telemetry.ts';
import { operationOf, startWorlds } from '../contract/world.ts';
import type { Answer } from '../end-to-end/api-harness.ts';

let a: World;
let b: World;
let close: () => Promise<void>;

/**
 * A dashboard with every field, and the canary of its organization; the queries are the same for both organizations.
 */
const dashboardOf = (tenant: string, savedQueryId: string): object => {
  const canary = canaryOf(tenant);
  const promql = (expression: string): object => ({ kind: 'promql', expression });
  const shared = { visual: { kind: 'time-series' } };
  return {
    name: `${canary} name`,
    description: canary,
    folder: canary,
    tags: [canary],
    variables: [
      { kind: 'label-values', name: 'key', label: 'key' },
      { kind: 'metric-names', name: 'metric' },
      { kind: 'field-values', name: 'service', signal: 'logs', field: 'service' },
      { kind: 'promql', name: 'found', expression: 'count by (key) ({__name__=~".+"})' },
      { kind: 'constant', name: 'own', value: canary },
    ],
    panels: [
      {
        id: 'saved',
        title: '$own of $key',
        ...shared,
        queries: [{ name: 'A', savedQueryId }],
        links: [{ url: `/${canary}` }],
      },
      {
        id: 'every',
        title: canary,
        ...shared,
        queries: [{ name: 'A', query: promql('{__name__=~".+"}'), exemplars: true }],
      },
      {
        id: 'logs',
        title: canary,
        visual: { kind: 'table' },
        queries: [{ name: 'A', query: { kind: 'rows', signal: 'logs', search: '' } }],
      },
      { id: 'wrong', title: canary, ...shared, queries: [{ name: 'A', query: promql(`sum(${canary}`) }] },
    ],
    annotations: [
      { name: 'events', source: { kind: 'events' } },
      { name: 'spans', source: { kind: 'records', signal: 'traces' } },
      { name: 'values', source: { kind: 'promql', expression: '{__name__=~".+"}', title: '{{key}}' } },
    ],
    links: [{ kind: 'address', url: `https://${canary}.example`, title: canary }],
  };
};

interface CreatedIds {
  readonly savedQueryId: string;
  readonly snapshotId: string;
  readonly token: string;
  readonly templateDashboardId: string;
  readonly onlyId: string;
}
let own: CreatedIds;
let otherIds: CreatedIds;

const fill = async (world: World): Promise<CreatedIds> => {
  const canary = canaryOf(world.tenant);
  const query = { kind: 'promql', expression: '{__name__=~".+"}' };
  const saved = await world.make('createSavedQuery', { body: { name: canary, query, visibility: 'organization' } });
  const body = dashboardOf(world.tenant, saved.id);
  await world.make('createDashboard', { query: { id: 'twin' }, body });
  const only = await world.make('createDashboard', { query: { id: `only-${world.tenant}` }, body });
  await world.make('addPanel', {
    params: { id: 'twin' },
    body: { id: 'later', title: canary, visual: { kind: 'text', content: canary } },
    headers: { 'if-match': '"1"' },
  });
  const snapshot = await world.make('createDashboardSnapshot', {
    params: { id: 'twin' },
    body: { name: canary, labels: ['key', 'service'], bodies: true },
  });
  const created = await world.make('instantiateTemplate', { params: { id: 'hosts' }, body: { name: canary } });
  await world.make('markTemplate', { params: { id: 'hosts' } });
  return {
    savedQueryId: saved.id,
    snapshotId: snapshot.id,
    token: snapshot.token,
    templateDashboardId: created.id,
    onlyId: only.id,
  };
};

test.before(async () => {
  const worlds = await startWorlds();
  ({ a, b, close } = worlds);
  await worlds.harness.documents
    .forTenant(plansTenant)
    .collection(plans)
    .update('free', { ...defaultPlans['enterprise'] });
  [own, otherIds] = [await fill(a), await fill(b)];
});
test.after.always(() => close?.());

const ofGroups = operations.filter(
  ({ built, path }) => built && /^\/api\/(?:dashboards|templates|snapshots|shared-snapshots)(?:\/|$)/.test(path),
);
const textOf = ({ status, body, headers }: Answer): string =>
  `${status} ${typeof body === 'string' ? body : JSON.stringify(body)} ${JSON.stringify([...headers])}`;

/** Everything that an organization can read about its dashboards and templates. */
const seenBy = async (world: World): Promise<string> => {
  const texts: string[] = [];
  for (const [operationId, request] of [
    ['listDashboards', { query: { facets: 'true' } }],
    ['getDashboard', { params: { id: 'twin' } }],
    ['listDashboardVersions', { params: { id: 'twin' } }],
    ['listDashboardSnapshots', { params: { id: 'twin' } }],
    ['getTemplateUsage', {}],
    ['listTemplates', { query: { favourite: 'true' } }],
  ] as const)
    texts.push(JSON.stringify(await world.make(operationId, request)));
  return texts.join('\n');
};

const isIn = (response: Answer, tenant: string): boolean => textOf(response).includes(canaryOf(tenant));

/** Requests for each operation with the ids of both organizations: own ids must work, and foreign ids must not. */
const walks = (id: string, created: CreatedIds): Readonly<Record<string, readonly OperationRequest[]>> => {
  const params = { id };
  const matching = { headers: { 'if-match': '*' } };
  const body = dashboardOf('a', created.savedQueryId);
  return {
    listDashboards: [
      {},
      { query: { facets: 'true' } },
      { query: { search: 'canary' } },
      { query: { tag: canaryOf('b') } },
    ],
    createDashboard: [{ query: { id }, body }, { body }],
    getDashboard: [{ params }, { params, query: { opens: 'true' } }],
    replaceDashboard: [{ params, body, ...matching }],
    deleteDashboard: [{ params, ...matching }],
    addPanel: [
      {
        params,
        body: { visual: { kind: 'stat' }, queries: [{ name: 'A', savedQueryId: created.savedQueryId }] },
        ...matching,
      },
    ],
    replacePanel: [
      {
        params: { ...params, panelId: 'later' },
        body: { visual: { kind: 'stat' }, queries: [{ name: 'A', savedQueryId: created.savedQueryId }] },
        ...matching,
      },
    ],
    removePanel: [{ params: { ...params, panelId: 'later' }, ...matching }],
    queryDashboard: [
      { params, body: { from: 'now-1h' } },
      { params, body: { from: 'now-1h', variables: { key: ['.*'], service: ['*'], metric: ['.+'] } } },
      { params, body: { from: 'now-1h', draft: body } },
      { params, body: { from: 'now-1h' }, headers: { accept: 'application/x-ndjson' } },
    ],
    listDashboardVersions: [{ params }],
    getDashboardVersion: [{ params: { ...params, version: '1' } }],
    restoreDashboardVersion: [{ params: { ...params, version: '1' }, ...matching }],
    cloneDashboard: [{ params, body: {} }],
    createDashboardSnapshot: [{ params, body: { labels: ['key', 'service'], bodies: true } }],
    listDashboardSnapshots: [{ params }],
    revokeDashboardSnapshot: [{ params: { id: created.snapshotId } }],
    importDashboard: [
      { query: { id }, body },
      { query: { id, dryRun: 'true' }, body: { uid: id, title: 'Imported', schemaVersion: 39, panels: [] } },
    ],
    exportDashboard: ['oiq', 'yaml', 'grafana'].map((format) => ({ params, query: { format } })),
    listTemplates: [{}, { query: { search: 'canary' } }],
    getTemplate: [
      { params: { id: 'hosts' } },
      { params: { id: 'hosts' }, query: { dashboardId: created.templateDashboardId } },
    ],
    instantiateTemplate: [{ params: { id: 'hosts' }, body: {} }],
    getTemplateUsage: [{}],
    markTemplate: [{ params: { id: 'hosts' } }],
    unmarkTemplate: [{ params: { id: 'hosts' } }],
    // A complete link is public, so the requests use an incomplete one.
    getSharedSnapshot: [{ params: { token: created.token.slice(0, -1) } }, { params: { token: created.snapshotId } }],
  };
};

test.serial('every operation of these groups is covered', (t) => {
  t.deepEqual(Object.keys(walks('', own)).sort(), ofGroups.map(({ operationId }) => operationId).sort());
  t.is(ofGroups.length, 25);
});

// Deletions run last, so that the other operations have data.
const last = ['removePanel', 'deleteDashboard'];
const inOrder = ofGroups.toSorted(
  (one, otherTenant) => last.indexOf(one.operationId) - last.indexOf(otherTenant.operationId),
);

test.serial(
  'a link opens the snapshot of its own organization, whoever is signed in, without data of the other organization',
  async (t) => {
    for (const [ids, ownTenant, otherTenant] of [
      [own, 'a', 'b'],
      [otherIds, 'b', 'a'],
    ] as const)
      for (const token of ['', a.token, b.token]) {
        const response = await a.call(operationOf('getSharedSnapshot'), { params: { token: ids.token }, token });
        t.is(response.status, 200);
        t.true(isIn(response, ownTenant));
        t.false(isIn(response, otherTenant));
      }
  },
);

for (const [title, idOf] of [
  ['an id that both have', () => 'twin'],
  ['an id that only the other one has', () => otherIds.onlyId],
] as const)
  test.serial(`with ${title}, no response shows and no change affects data of another organization`, async (t) => {
    const before = await seenBy(b);
    t.true(before.includes(canaryOf('b')));
    const failures: string[] = [];
    let response = 0;
    const callWith = async (operation: Operation, request: OperationRequest): Promise<void> => {
      const apiResponse = await a.call(operation, request);
      if (apiResponse.status === 200) response++;
      if (isIn(apiResponse, 'b')) failures.push(`${operation.operationId}: ${textOf(apiResponse)}`);
    };
    for (const operation of inOrder)
      for (const request of walks(idOf(), otherIds)[operation.operationId] ?? []) await callWith(operation, request);
    t.deepEqual(failures, []);
    t.true(response > 10, `${response} were answered`);
    t.is(await seenBy(b), before);
  });

test.serial('an ID that exists only in another organization gets the same response as an unknown ID', async (t) => {
  for (const operation of ofGroups.filter(({ path }) => path.startsWith('/api/dashboards/{id}'))) {
    const [request = {}] = walks(otherIds.onlyId, own)[operation.operationId] ?? [];
    const withId = async (id: string): Promise<string> => {
      const { status, body } = await a.call(operation, { ...request, params: { ...request.params, id } });
      return `${status} ${JSON.stringify({ ...body, requestId: '' })}`.replaceAll(id, '{id}');
    };
    const response = await withId(otherIds.onlyId);
    t.regex(response, /^404 /, operation.operationId);
    t.is(response, await withId('nobodys'), operation.operationId);
  }
});

test.serial(
  'a reference to a saved query of another organization is refused like one that does not exist',
  async (t) => {
    const refusalOf = async (id: string): Promise<string> => {
      const responses = [
        await a.call(operationOf('createDashboard'), { body: dashboardOf('a', id) }),
        await a.call(operationOf('importDashboard'), { query: { dryRun: 'true' }, body: dashboardOf('a', id) }),
      ];
      return responses
        .map(({ status, body }) => `${status} ${JSON.stringify({ ...body, requestId: '' })}`.replaceAll(id, '{id}'))
        .join('\n');
    };
    const response = await refusalOf(otherIds.savedQueryId);
    t.regex(response, /^400 .*\n400 /);
    t.is(response, await refusalOf('nobodys'));
  },
);
