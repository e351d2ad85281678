/** Pages of incidents through the API: declared with a policy, told on the timeline. */
import test from 'ava';
import { escalateDue } from '../../api/incidents/escalate.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silent } from '../../schemas/ports/log.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { pageGroupOf } from '../../subjects/on-call/page.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness.close());

const ask = (method: string, path: string, body?: object, as = 'editor') =>
  harness.ask(method, path, { as, ...(body && { body }) } as never);

const userOf = async (role: string): Promise<string> => {
  const { items } = await harness.documents.of('a').collection(memberships).list({ filter: { role } });
  return items[0]?.id ?? '';
};

const escalate = () =>
  escalateDue({ documents: harness.documents, clock: systemClock, log: silent }, new AbortController().signal);

let made = 0;
const policyOf = async (userId: string, more: object = {}): Promise<string> => {
  const body = { name: `policy ${made++}`, steps: [{ targets: [{ kind: 'person', id: userId }] }], ...more };
  const answer = await ask('POST', '/api/on-call/escalation-policies', body);
  return answer.body.id;
};

const declare = async (fields: object) => (await ask('POST', '/api/incidents', fields)).body;

const titles = async (id: string, kind: string): Promise<string[]> => {
  const { body } = await ask('GET', `/api/incidents/${id}/timeline`);
  return body.items
    .filter((entry: { readonly kind: string }) => entry.kind === kind)
    .map(({ title }: { readonly title: string }) => title);
};

test('an incident that is declared with a policy pages, and its timeline tells of the pages and their delivery', async (t) => {
  const escalationPolicyId = await policyOf(await userOf('viewer'));
  const refused = await ask('POST', '/api/incidents', { title: 'x', escalationPolicyId: 'nothing' });
  t.is(refused.body.details[0].path, 'escalationPolicyId');
  const { id, escalatesAt, openedAt } = await declare({ title: 'declared', escalationPolicyId });
  t.is(escalatesAt, openedAt);
  await escalate();
  t.deepEqual(await titles(id, 'page'), ['paged viewer']);
  const { body } = await ask('GET', `/api/incidents/${id}/timeline`);
  const page = body.items.find((entry: { readonly kind: string }) => entry.kind === 'page');
  const row = (attempt: number, state: string) =>
    `('a', '${page.id}', 'email', '${pageGroupOf(id)}', ${attempt}, '${state}', '', now64(3), now64(3), now64(3))`;
  await harness.columns.execute(
    `INSERT INTO notification_deliveries (tenant_id, delivery_id, channel_type, group_key, attempt, state, answer, at, queued_at, received_at)
    VALUES ${[row(0, 'queued'), row(1, 'delivered'), row(1, 'delivered')].join(', ')}`,
  );
  t.deepEqual(await titles(id, 'delivery'), ['page of viewer: delivered']);
  await ask('POST', `/api/incidents/${id}/resolve`);
  t.deepEqual(await titles(id, 'delivery'), ['page of viewer: delivered']);
  t.deepEqual(await titles(id, 'page'), ['paged viewer']);
});

test('an incident that gets a policy later pages by it from the beginning', async (t) => {
  const { id } = await declare({ title: 'policy later' });
  await escalate();
  t.deepEqual(await titles(id, 'page'), []);
  for (const role of ['viewer', 'admin']) {
    const escalationPolicyId = await policyOf(await userOf(role));
    t.is((await ask('PATCH', `/api/incidents/${id}`, { escalationPolicyId })).status, 200);
    await escalate();
  }
  t.deepEqual(await titles(id, 'page'), ['paged viewer', 'paged admin']);
});
