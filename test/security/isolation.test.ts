/** Data of one organization is inaccessible to another: every operation, real ids, every way to name a tenant. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { roles } from '../../schemas/resources/user.ts';
import type { OperationRequest, World } from '../contract/example.ts';
import { unshown } from '../contract/examples.ts';
import { parsesJson } from '../contract/schema-values.ts';
import { canaryOf } from '../contract/telemetry.ts';
import { startWorlds } from '../contract/world.ts';
import type { Answer } from '../end-to-end/api-harness.ts';
import { runSeed, selectPart, selectPartAt, selectRunPart } from '../parts.ts';

let a: World;
let b: World;
let close: () => Promise<void>;
/** The time of the API clock while a test freezes it. */
let heldMs: number | undefined;
test.before(async () => {
  const worlds = await startWorlds({ now: () => heldMs ?? Date.now() });
  ({ a, b, close } = worlds);
  // The other organization has all kinds of data too, so that there is something to protect.
  await worlds.harness.documents
    .forTenant(plansTenant)
    .collection(plans)
    .update('free', { ...defaultPlans['enterprise'] });
});
test.after.always(() => close?.());

const built = operations.filter((operation) => operation.built);
const withSession = built.filter(({ role }) => role !== 'none');
const shown = withSession.filter(({ operationId }) => !(operationId in unshown));
const named = ({ method, path }: Operation): string => `${method} ${path}`;
const textOf = ({ status, body, headers }: Answer): string =>
  `${status} ${JSON.stringify(body)} ${JSON.stringify([...headers])}`;

/** A response without the request id and the requested id, which always differ. */
const comparable = ({ status, body }: Answer, id: string): string =>
  `${status} ${JSON.stringify({ ...body, requestId: '' })}`.replaceAll(id, '{id}');

/** The path contains a name, which any organization can have, and no id: an unknown name gets an empty response. */
const operationsByName = [
  ...['listLogFieldValues', 'listPrometheusLabelValues', 'showDatabaseEngine', 'showDatabaseSeries'],
  ...['setSyntheticVariable', 'deleteSyntheticVariable', 'setLlmPrice'],
];
/** The id belongs to the platform, and is the same for every organization. */
const ofThePlatform = ['getTemplate', 'instantiateTemplate', 'markTemplate', 'unmarkTemplate'];
const isByName = ({ operationId }: Operation): boolean => [...operationsByName, ...ofThePlatform].includes(operationId);

test.serial('another organization’s ID gets the same response as one that does not exist', async (t) => {
  const failures: string[] = [];
  for (const operation of shown.filter((each) => each.path.includes('{') && !isByName(each))) {
    const { params = {}, ...request } = await b.example(operation);
    const { token: _, ...own } = request;
    const [name = ''] = Object.keys(params);
    const nothing = { ...params, [name]: randomUUID() };
    const other = await a.call(operation, { ...own, params });
    const none = await a.call(operation, { ...own, params: nothing });
    if (other.status !== 404) failures.push(`${named(operation)} ${textOf(other)}`);
    else if (comparable(other, params[name] ?? '') !== comparable(none, nothing[name] ?? ''))
      failures.push(`${named(operation)} tells ${textOf(other)} from ${textOf(none)}`);
    if (textOf(other).includes(canaryOf('b'))) failures.push(`${named(operation)} shows ${textOf(other)}`);
    const foreign = await b.call(operation, { ...request, params });
    if (foreign.status !== 200)
      failures.push(`${named(operation)} does not answer its own organization: ${textOf(foreign)}`);
  }
  t.deepEqual(failures, []);
});

/** Ways to name another organization that must have no effect, besides those that are refused. */
const disguises: Readonly<Record<string, OperationRequest>> = {
  nothing: {},
  'headers of other systems and of proxies': {
    headers: {
      'X-Scope-OrgID': 'b',
      'X-Tenant-Id': 'b',
      'X-Tenant': 'b',
      'X-Oiq-Tenant': 'b',
      'X-Forwarded-Host': 'b.example',
      'X-Original-URL': '/api/tenants/b/logs',
      'X-HTTP-Method-Override': 'GET',
    },
  },
};

for (const [title, disguise] of Object.entries(disguises))
  test.serial(`no response to an organization contains data of another one, with ${title}`, async (t) => {
    const failures: string[] = [];
    let response = 0;
    // Headers are read before routing, so a sample of operations is enough.
    const chosen = disguise.headers === undefined ? shown : selectPart(shown, 4);
    t.log(`${chosen.length} of ${shown.length} operations are called (TEST_SEED=${runSeed})`);
    for (const operation of chosen) {
      const request = await a.example(operation);
      const apiResponse = await a.call(operation, {
        ...request,
        ...disguise,
        headers: { ...request.headers, ...disguise.headers },
      });
      if (apiResponse.status === 200) response++;
      if (textOf(apiResponse).includes(canaryOf('b'))) failures.push(`${named(operation)}: ${textOf(apiResponse)}`);
    }
    t.deepEqual(failures, []);
    t.true(response > chosen.length / 2, `${response} of ${chosen.length} answered`);
    t.true(
      textOf(await a.call(operations.find((one) => one.operationId === 'listLogs') as Operation, {})).includes(
        canaryOf('a'),
      ),
    );
  });

test.serial('every way to name another organization in path, query and body is refused for every role', async (t) => {
  const failures: string[] = [];
  const tokens = await Promise.all(roles.map((role) => a.harness.signIn(`${role}@a.example`)));
  // Each operation is called with a randomly selected role.
  const everyone = tokens.map((token, index) => ({ role: roles[index], token }));
  t.log(
    `${selectRunPart(roles.length).of === 1 ? 'all roles call' : 'one role calls'} each operation (TEST_SEED=${runSeed})`,
  );
  const chosen = withSession.flatMap((operation, at) =>
    selectPartAt(at, everyone, roles.length).map((person) => ({ operation, ...person })),
  );
  for (const { operation, role, token } of chosen) {
    const request = { token, params: { id: 'x' } };
    const responses = [await a.call(operation, { ...request, query: { tenantId: 'b' } })];
    // A body that the operation parses itself, such as a source map, names no organization.
    if (operation.method !== 'GET' && !parsesJson(operation))
      responses.push(await a.call(operation, { ...request, body: { tenantId: ['b'] } }));
    for (const response of responses)
      if (response.status !== 403) failures.push(`${role} ${named(operation)}: ${textOf(response)}`);
  }
  t.deepEqual(failures, []);
});

test.serial('a cached list is returned only to users of the same organization with the same permissions', async (t) => {
  const lists = built.filter(({ cache, operationId }) => cache !== undefined && /^list/.test(operationId));
  t.true(lists.length >= 3);
  const [viewer, editor] = [await a.person('viewer'), await a.person('editor')];
  const [colleague, foreign] = [await a.person('viewer'), await b.person('viewer')];
  const cacheStates = async (operation: Operation): Promise<(string | null)[]> => {
    const states: (string | null)[] = [];
    for (const { token } of [viewer, viewer, colleague, editor, foreign]) {
      // The path contains ids of one organization, so the other one requests its own.
      const example = await (token === foreign.token ? b : a).example(operation);
      const query = { ...example.query, limit: '17' };
      const response = await a.call(operation, { ...example, query, token });
      t.is(response.status, 200, named(operation));
      t.is(textOf(response).includes(canaryOf('b')), token === foreign.token, named(operation));
      t.is(textOf(response).includes(canaryOf('a')), token !== foreign.token, named(operation));
      states.push(response.headers.get('x-cache'));
    }
    return states;
  };
  for (const operation of lists) {
    // The frozen clock keeps cached responses valid until the last request.
    heldMs = Date.now();
    t.deepEqual(await cacheStates(operation), ['miss', 'hit', 'hit', 'miss', 'miss'], named(operation));
    heldMs = undefined;
  }
});
