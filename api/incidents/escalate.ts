/** Escalates incidents: queues the pages that are due, and opens an incident again whose acknowledgement holds no more. */
import { hashOf } from '../../runtime/hash-of.ts';
import { defineJob } from '../../runtime/jobs.ts';
import { fieldsOf } from '../../runtime/stored-fields.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents, Stored } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { type EscalationDeed, escalationDeeds, escalations } from '../../schemas/resources/escalation.ts';
import { type Incident, incidents } from '../../schemas/resources/incident.ts';
import { pendingDeliveries } from '../../schemas/resources/notification-delivery.ts';
import { unacknowledged } from '../../subjects/incidents/state.ts';
import { type Looked, lookAt } from '../../subjects/on-call/incident-escalation.ts';
import { deliveryOf, type Paging } from '../../subjects/on-call/page.ts';
import { type NamedPeople, readPeople } from '../../subjects/on-call/people.ts';
import { readPolicyOrOwners } from '../../subjects/on-call/reading.ts';
import { type AuditedTransaction, systemActor, systemChange } from '../changes.ts';
import { writeIncident } from './write.ts';

export interface EscalatePorts {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Log;
}

type Known = Incident & Stored;

interface Putting extends Paging {
  readonly of: Documents['of'];
  readonly people: NamedPeople;
}

/** Queues the pages and writes what the timeline tells of them. */
const put = async (incident: Known, { key, pages, notes }: Looked, putting: Putting): Promise<void> => {
  const { of, tenantId, people, nowMs } = putting;
  const deeds = of(tenantId).collection(escalationDeeds);
  const waiting = of(tenantId).collection(pendingDeliveries);
  const told = { incidentId: incident.id, at: new Date(nowMs).toISOString() };
  for (const note of notes) {
    const { kind, round, step = null, reason = null } = note;
    const deed: EscalationDeed = { ...told, kind, round, step, reason, to: null };
    await deeds.insert({ id: hashOf(key, [note, told.at]), ...deed });
  }
  for (const page of pages) {
    const { round, step, to } = page;
    const told = { incidentId: incident.id, at: new Date(nowMs).toISOString(), kind: 'page', round, step } as const;
    for (const contact of to.kind === 'person' ? people.contactsOf(to.id) : [undefined]) {
      const delivery = deliveryOf(incident, page, { ...putting, ...(contact && { contact }) });
      if ((await waiting.find(delivery.id)) !== undefined) continue;
      await waiting.insert(delivery);
      const named = { ...to, name: people.nameOf(to), ...(contact?.id && { contact: contact.name }) };
      await deeds.insert({ id: delivery.id, ...told, reason: null, to: named });
    }
  }
};

/** Writes the incident as the look left it; what is recorded is that its acknowledgement holds no more. */
const write = async (
  scope: AuditedTransaction,
  tenantId: string,
  before: Known,
  { escalatesAt, isTimedOut }: Looked,
): Promise<void> => {
  const fields = fieldsOf<Incident>(before);
  if (isTimedOut) {
    const next = { ...unacknowledged(fields), escalatesAt };
    return writeIncident(scope, tenantId, { before, next, actor: systemActor('incidents') });
  }
  await scope
    .of(tenantId)
    .collection(incidents)
    .replace(before.id, { ...fields, escalatesAt }, before.version);
  scope.unchanged();
};

/** One transaction: where escalation stands, its pages, and the incident are there together or not at all. */
const look = async (ports: EscalatePorts, tenantId: string, { id }: Pick<Known, 'id'>): Promise<void> => {
  const { documents, clock } = ports;
  const found = await documents.of(tenantId).collection(incidents).find(id);
  if (found === undefined) return;
  const policy = await readPolicyOrOwners(documents.of(tenantId), found.escalationPolicyId);
  const nowMs = clock.now();
  const people = await readPeople(documents, tenantId, { policy, atMs: nowMs, nowMs });
  await systemChange(
    ports,
    'incident.escalate',
  )(async (scope) => {
    const own = scope.of(tenantId);
    const before = await own.collection(incidents).find(id);
    // What changed meanwhile is looked at again in the next run.
    if (before?.version !== found.version) return scope.unchanged();
    const known = await own.collection(escalations).find(id);
    const looked = lookAt(before, known, { policy, people, nowMs });
    const { key, state } = looked;
    await put(before, looked, { of: scope.of, tenantId, policyName: policy.name, people, nowMs });
    if (known === undefined) await own.collection(escalations).insert({ id, key, state });
    else await own.collection(escalations).replace(id, { key, state }, known.version);
    await write(scope, tenantId, before, looked);
  });
};

/** Looks at each incident that is due. One that cannot be looked at keeps no other from it. */
export const escalateDue = async (ports: EscalatePorts, signal: AbortSignal): Promise<void> => {
  const filter = { escalatesAt: { $lte: new Date(ports.clock.now()).toISOString() } };
  const due: { readonly tenantId: string; readonly id: string }[] = [];
  for await (const { tenantId, id } of ports.documents.everywhere(incidents, filter)) due.push({ tenantId, id });
  for (const { tenantId, id } of due) {
    if (signal.aborted) return;
    await look(ports, tenantId, { id }).catch((error: unknown) =>
      ports.log.warn({ error, tenantId, incident: id }, 'an incident could not be escalated; it is looked at again'),
    );
  }
};

export const escalateJob = defineJob<EscalatePorts>({
  name: 'incidents-escalate',
  summary: 'Pages who is to be paged for incidents.',
  everyMs: 3000,
  scope: 'installation',
  run: escalateDue,
});
