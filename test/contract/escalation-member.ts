/**
 * A process that opens incidents from alerts, escalates them and reports their end, with a fixed clock. It kills itself
 * at one of its calls to the store; a second run completes the rest. Prints the number of calls.
 */
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { escalateDue } from '../../api/groups/incidents/escalate.ts';
import { createMailQueue } from '../../api/mail/queue.ts';
import { applyAlerts } from '../../processors/incidents/consume-alerts.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { getFields } from '../../runtime/stored-fields.ts';
import type { Notification } from '../../schemas/notifications.ts';
import type { Collection, CollectionDefinition, Documents } from '../../schemas/ports/documents.ts';
import { ConflictError } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { type Incident, incidents } from '../../schemas/resources/incident.ts';
import { changeState } from '../../subjects/incidents/state.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';

export interface EscalationMemberOptions {
  readonly store: { readonly path: string } | { readonly mongodb: string };
  readonly tenantId: string;
  /** Number of the call at which the process ends; 0 for none. */
  readonly killAt: number;
  /** Groups of alerts. */
  readonly groups: number;
  readonly openedMs: number;
  readonly secret: string;
}

const { store, tenantId, killAt, groups, openedMs, secret } = JSON.parse(
  process.argv[2] ?? '{}',
) as EscalationMemberOptions;
let calls = 0;
const strike = (): void => {
  calls++;
  if (calls === killAt) process.kill(process.pid, 'SIGKILL');
};
const struck = async <Result>(call: () => Promise<Result>): Promise<Result> => {
  strike();
  const result = await call();
  strike();
  return result;
};

/** The documents of the organization; the process may end at each write. */
const striking = (documents: Pick<Documents, 'forTenant'>): Pick<Documents, 'forTenant'> => ({
  forTenant(tenant) {
    const own = documents.forTenant(tenant);
    return {
      tenantId: tenant,
      collection<Fields extends object>(definition: CollectionDefinition<Fields>): Collection<Fields> {
        const stored = own.collection(definition);
        return {
          find: (id) => stored.find(id),
          list: (options) => stored.list(options),
          count: (filter) => stored.count(filter),
          countValues: (fields, options) => stored.countValues(fields, options),
          insert: (fields) => struck(() => stored.insert(fields)),
          replace: (id, fields, version) => struck(() => stored.replace(id, fields, version)),
          update: (id, changes, version) => struck(() => stored.update(id, changes, version)),
          delete: (id, version) => struck(() => stored.delete(id, version)),
        };
      },
    };
  },
});

const clock = { ms: openedMs, now: () => clock.ms };
const opened =
  'path' in store ? await openSqliteDocuments({ path: store.path, clock }) : await openPatientDocuments(store.mongodb);
const documents: Documents = {
  ...opened,
  ...striking(opened),
  findInAllTenants: (definition, filter) => opened.findInAllTenants(definition, filter),
  ensureCollections: (definitions) => opened.ensureCollections(definitions),
  // Before and after the commit.
  transaction: (work) => struck(() => opened.transaction((transaction) => work(striking(transaction) as never))),
};

const notificationOf = (group: number): Notification => ({
  tenantId,
  id: `n-${group}`,
  channelId: '',
  escalationPolicyId: 'policy',
  receiver: 'all',
  groupKey: `{}:{g="${group}"}`,
  groupLabels: { g: String(group) },
  commonLabels: { alertname: 'Slow' },
  commonAnnotations: {},
  status: 'firing',
  reason: 'first',
  firing: 1,
  resolved: 0,
  truncatedAlerts: 0,
  atMs: openedMs,
  alerts: [
    {
      alertId: `a-${group}`,
      ruleId: 'r',
      status: 'firing',
      annotations: {},
      startsAtMs: openedMs,
      value: 1,
      labels: { alertname: 'Slow', severity: 'critical' },
    },
  ],
});

const box = createSecretBox(secret);
const ports = {
  documents,
  clock,
  log: silentLog,
  counters: createMemoryCounters({ clock }),
  mail: createMailQueue({ documents, clock, box, isConfigured: true }),
  settings: { PUBLIC_URL: undefined, HTTP_ADDRESS: '127.0.0.1:8080' },
};
const escalate = async (): Promise<void> => {
  await escalateDue(ports, new AbortController().signal);
};

/** Moves the incident of a group to a state, unless it has that state already. */
const move = async (group: number, to: 'acknowledged' | 'resolved'): Promise<void> => {
  const stored = documents.forTenant(tenantId).collection(incidents);
  for (;;) {
    const [found] = (await stored.list({ filter: { alertIds: `a-${group}` }, limit: 1 })).items;
    if (found === undefined || found.status === to || found.status === 'resolved') return;
    const next = changeState(getFields<Incident>(found), to, { by: 'u', at: new Date(clock.ms).toISOString() });
    try {
      if (next !== undefined) await stored.replace(found.id, next, found.version);
      return;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
};

for (let group = 0; group < groups; group++) await applyAlerts(documents, notificationOf(group));
await applyAlerts(documents, notificationOf(0));
await escalate();
clock.ms += 5 * 60_000;
await escalate();
await move(0, 'acknowledged');
await escalate();
clock.ms += 60_000;
await move(0, 'resolved');
await escalate();
clock.ms += 5 * 60_000;
await escalate();
process.stdout.write(`${calls}\n`);
await opened.close();
process.exit(0);
