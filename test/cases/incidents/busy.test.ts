/** Incidents that other writers change while an action reads telemetry. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createMemoryCounters } from '../../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import type { Caller } from '../../../api/callers/caller.ts';
import { createTransact } from '../../../api/changes.ts';
import { acknowledgeByLink } from '../../../api/groups/incidents/acknowledge-link.ts';
import { acknowledgeIncident, incidentResource, resolveIncident } from '../../../api/groups/incidents/incident.ts';
import { createToken } from '../../../api/identity/accounts/one-time-tokens.ts';
import { ensureCollections } from '../../../api/index.ts';
import type { Ports } from '../../../api/kernel/ports.ts';
import type { RequestFacts } from '../../../api/request-facts.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import { type Incident, IncidentFields, incidents } from '../../../schemas/resources/incident.ts';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { defaultPlans, plans, plansTenant } from '../../../schemas/resources/plan.ts';
import { memberships, users, usersTenant } from '../../../schemas/resources/user.ts';
import { initialFields } from '../../../subjects/incidents/state.ts';

const tenantId = 'acme';
const nowMs = Date.parse('2026-11-25T10:00:00Z');
const clock = { now: () => nowMs };

/** Documents with an incident whose summary changes with each read of telemetry. */
const setUp = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-busy-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await ensureCollections(documents);
  const stored = documents.forTenant(tenantId).collection(incidents);
  const { id } = await stored.insert({
    ...IncidentFields.parse({ title: 'Checkout fails' }),
    openedBy: 'u1',
    openedAt: new Date(nowMs - 60_000).toISOString(),
    groupId: null,
    escalationPolicyId: null,
    ...initialFields,
    alertIds: ['a1'],
  });
  await documents
    .forTenant(plansTenant)
    .collection(plans)
    .insert({ id: 'pro', ...defaultPlans.pro } as never);
  await documents
    .forTenant(organizationsTenant)
    .collection(organizations)
    .insert({ id: tenantId, name: 'Acme', planId: 'pro' } as never);
  const { id: personId } = await documents
    .forTenant(usersTenant)
    .collection(users)
    .insert({ email: 'ann@example.com', name: 'Ann', disabled: false } as never);
  await documents.forTenant(tenantId).collection(memberships).insert({ id: personId, role: 'editor' });
  const { token } = await createToken(documents, {
    purpose: 'acknowledge-incident',
    tenantId,
    incidentId: id,
    personId,
    expiresAt: new Date(nowMs + 60_000).toISOString(),
  } as never);
  let changes = 0;
  const changeIncident = async (): Promise<never> => {
    const before = await stored.find(id);
    if (before === undefined) throw new Error('it was deleted');
    changes++;
    await stored.replace(id, { ...before, summary: `change ${changes}` }, before.version);
    throw new Error('the telemetry cannot be read');
  };
  const ports = {
    documents,
    clock,
    log: silentLog,
    counters: createMemoryCounters({}),
    configurationActions: [],
    columns: { forTenant: () => ({ query: changeIncident }) },
  } as unknown as Ports;
  const close = async (): Promise<void> => {
    await documents.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { ports, documents, id, token, personId, find: () => stored.find(id), countChanges: () => changes, close };
};

const patch = incidentResource.operations.find(({ method }) => method === 'PATCH');
const cases = [
  { what: 'acknowledged', operation: acknowledgeIncident, status: 'acknowledged' },
  { what: 'acknowledged by a link', operation: acknowledgeByLink, status: 'acknowledged' },
  { what: 'acknowledged by its field', operation: patch, status: 'acknowledged', body: { status: 'acknowledged' } },
  { what: 'resolved', operation: resolveIncident, status: 'resolved' },
  { what: 'resolved by its field', operation: patch, status: 'resolved', body: { status: 'resolved' } },
] as const;
for (const { what, operation, status, ...rest } of cases)
  test(`An incident can be ${what} while others change it all the time`, async (t) => {
    const { ports, documents, id, token, personId, find, countChanges, close } = await setUp();
    t.teardown(close);
    const request = {
      requestId: 'r1',
      address: '192.0.2.1',
      userAgent: '',
      host: '',
      secure: true,
      header: () => '',
      reply: () => undefined,
      redirect: () => undefined,
    } as RequestFacts;
    const actor = { type: 'user', id: personId, name: 'ann@example.com' };
    const caller = { tenantId, actor, plan: defaultPlans.pro } as unknown as Caller;
    const change = createTransact(
      { documents, clock, directory: { applyWrite: () => undefined } },
      { caller, actions: operation?.audit ?? [], request },
    );
    const body = 'body' in rest ? rest.body : { token };
    const signal = new AbortController().signal;
    await operation?.run({ caller, params: { id }, query: {}, body, request, signal, change } as never, ports);
    const after = (await find()) as Incident & { readonly summary: string };
    t.is(after.status, status);
    t.true(countChanges() >= 3, `${countChanges()} changes`);
    t.regex(after.summary, /^change \d+$/, 'the changes of others stay');
    if (status === 'resolved') t.regex(String(after.evidenceHash), /^[0-9a-f]{64}$/);
  });
