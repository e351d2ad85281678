/** Reads the timeline entries of each source. */

import type { Incompleteness } from '../../../queries/result.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { withTimeout } from '../../../runtime/timeout.ts';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { alertRules } from '../../../schemas/resources/alert-rule.ts';
import { escalationActions } from '../../../schemas/resources/escalation.ts';
import { type Incident, incidentNotes } from '../../../schemas/resources/incident.ts';
import { maxSlos, slos } from '../../../schemas/resources/slo.ts';
import { readDeliveryAttempts } from '../../../subjects/alerts/deliveries.ts';
import { readTransitions } from '../../../subjects/alerts/history.ts';
import { parseEventsRange } from '../../../subjects/events/events.ts';
import { readFeedPage } from '../../../subjects/events/feed.ts';
import {
  formatRecipient,
  type TimelineEntry,
  toActionEntry,
  toAuditEntry,
  toDeliveryEntry,
  toEventEntry,
  toNoteEntry,
  toTransitionEntry,
} from '../../../subjects/incidents/timeline.ts';
import { getPageGroupKey } from '../../../subjects/on-call/page.ts';
import type { Caller } from '../../callers/caller.ts';
import { createEventSources } from '../../event-feed/sources.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { findNewestRecords } from '../audit/chain/record-search.ts';

/** Maximum entries per source */
const maxEntries = 1000;
/** Time limit per source, after which an incident is resolved without its entries. */
const maxReadMs = 4000;
/** The timeline starts this long before the incident, because earlier events may have caused it. */
const leadTimeMs = 3_600_000;

/** Context of a timeline read: a caller, or the platform. */
export interface TimelineContext {
  readonly tenantId: string;
  readonly reader: TenantReader;
  readonly ports: Pick<Ports, 'documents' | 'clock' | 'log' | 'configurationActions'>;
}

export const createTimelineContext = (caller: Caller, ports: Ports): TimelineContext => ({
  tenantId: caller.tenantId,
  reader: createQueryReader(caller, ports),
  ports,
});

type StoredIncident = Incident & StoredMetadata;

const computeTimelineRange = ({ openedAt, resolvedAt }: StoredIncident, { reader, ports }: TimelineContext) => {
  const from = new Date(Date.parse(openedAt) - leadTimeMs).toISOString();
  const to = resolvedAt ?? new Date(ports.clock.now()).toISOString();
  return parseEventsRange({ from, to }, reader);
};

const readTransitionEntries = async (incident: StoredIncident, context: TimelineContext): Promise<TimelineEntry[]> => {
  const { alertIds } = incident;
  if (alertIds.length === 0) return [];
  const page = { range: computeTimelineRange(incident, context), limit: maxEntries };
  const rows = await readTransitions(context.reader, { alertIds }, page);
  return rows.map(toTransitionEntry);
};

/**
 * Returns the ids of the configuration that concerns an incident: the rules of its alerts, their SLOs and checks, SLOs
 * of its services, and its escalation policy. `undefined` if neither rules nor services are known: any change may
 * concern it.
 */
const readConcernedIds = async (
  { ruleIds = [], services, escalationPolicyId }: StoredIncident,
  { tenantId, ports }: TimelineContext,
): Promise<readonly string[] | undefined> => {
  if (ruleIds.length === 0 && services.length === 0) return undefined;
  const documents = ports.documents.forTenant(tenantId);
  const [rules, servedSlos] = await Promise.all([
    documents.collection(alertRules).list({ filter: { id: { $in: ruleIds } }, limit: ruleIds.length + 1 }),
    services.length === 0
      ? { items: [] }
      : documents.collection(slos).list({ filter: { service: { $in: services } }, limit: maxSlos }),
  ]);
  const managers = rules.items.flatMap(({ managedBy }) => Object.values(managedBy ?? {}));
  return [
    ...ruleIds,
    ...managers,
    ...servedSlos.items.map(({ id }) => id),
    ...(escalationPolicyId === null ? [] : [escalationPolicyId]),
  ];
};

/**
 * Returns deployments of the services of the incident, or of all services if it has none, and changes of the
 * configuration that concerns it.
 */
const readEventEntries = async (incident: StoredIncident, context: TimelineContext): Promise<TimelineEntry[]> => {
  const { services } = incident;
  const query = {
    kinds: ['deployment', 'config'],
    hasExplicitKinds: true,
    resourceIds: await readConcernedIds(incident, context),
    range: computeTimelineRange(incident, context),
  };
  const partial: Incompleteness[] = [];
  const sources = createEventSources(query, { ...context, partial });
  const { events: feedEvents } = await readFeedPage(sources, { limit: maxEntries, after: {} });
  return feedEvents
    .filter(({ kind, service }) => kind !== 'deployment' || services.length === 0 || services.includes(service))
    .filter(({ details }) => details.resourceType !== 'incident')
    .map(toEventEntry);
};

/** Actions of the escalation, the oldest first. */
const readEscalationActions = (
  { id }: StoredIncident,
  { tenantId, ports }: Pick<TimelineContext, 'tenantId' | 'ports'>,
) =>
  ports.documents
    .forTenant(tenantId)
    .collection(escalationActions)
    .list({ filter: { incidentId: id }, sort: { at: 1 }, limit: maxEntries });

/** Returns the delivery results of the pages of the incident. */
const readDeliveryEntries = async (incident: StoredIncident, context: TimelineContext): Promise<TimelineEntry[]> => {
  const { items } = await readEscalationActions(incident, context);
  const names = new Map(items.map(({ id, to }) => [id, to === null ? '' : formatRecipient(to)]));
  if (names.size === 0) return [];
  const { openedAt, resolvedAt } = incident;
  const toMs = resolvedAt === null ? context.ports.clock.now() : Date.parse(resolvedAt);
  const steps = await readDeliveryAttempts(context.reader.columns, getPageGroupKey(incident.id), {
    fromMs: Date.parse(openedAt),
    toMs,
    limit: maxEntries,
  });
  return steps.map((step) => toDeliveryEntry(step, names.get(step.id) ?? ''));
};

/**
 * Returns the actions of users and of the escalation on the incident. They are read from documents, so they are available even without
 * telemetry.
 */
export const readActions = async (
  incident: StoredIncident,
  { tenantId, ports }: TimelineContext,
): Promise<TimelineEntry[]> => {
  const notes = await ports.documents
    .forTenant(tenantId)
    .collection(incidentNotes)
    .list({ filter: { incidentId: incident.id }, sort: { at: 1 }, limit: maxEntries });
  const records = await readAuditEntries(incident.id, tenantId, ports.documents);
  const { items: actions } = await readEscalationActions(incident, { tenantId, ports });
  return [...notes.items.map(toNoteEntry), ...records, ...actions.map(toActionEntry)];
};

const readAuditEntries = async (id: string, tenantId: string, documents: Documents): Promise<TimelineEntry[]> => {
  const filter = { resourceType: 'incident', resourceId: id };
  const records = await findNewestRecords(documents, tenantId, filter, { limit: maxEntries });
  return records.map(toAuditEntry);
};

/** Returns the entries from telemetry. Unavailable sources are listed, so that an incident can be resolved anyway. */
export const readTelemetryEntries = async (
  incident: StoredIncident,
  context: TimelineContext,
): Promise<{ readonly entries: readonly TimelineEntry[]; readonly missing: readonly string[] }> => {
  const results = await Promise.allSettled(
    [
      readTransitionEntries(incident, context),
      readEventEntries(incident, context),
      readDeliveryEntries(incident, context),
    ].map((reader) => withTimeout(maxReadMs, reader)),
  );
  const names = ['transitions of alerts', 'deployments and changes of configuration', 'deliveries of pages'];
  return {
    entries: results.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])),
    missing: results.flatMap((result, index) => {
      if (result.status === 'fulfilled') return [];
      context.ports.log.warn({ error: result.reason }, 'a source of a timeline could not be read');
      return [names[index] ?? ''];
    }),
  };
};
