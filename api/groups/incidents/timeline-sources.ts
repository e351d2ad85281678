/** Reads the timeline entries of each source. */
import type { Reading } from '../../../queries/reading.ts';
import type { Incompleteness } from '../../../queries/result.ts';
import { withTimeout } from '../../../runtime/timeout.ts';
import type { Documents, Stored } from '../../../schemas/ports/documents.ts';
import { escalationActions } from '../../../schemas/resources/escalation.ts';
import { type Incident, incidentNotes } from '../../../schemas/resources/incident.ts';
import { readPageSteps } from '../../../subjects/alerts/deliveries.ts';
import { readTransitions } from '../../../subjects/alerts/history.ts';
import { eventsRange } from '../../../subjects/events/events.ts';
import { feedPage } from '../../../subjects/events/feed.ts';
import {
  calledOf,
  deliveryEntry,
  eventEntry,
  noteEntry,
  recordEntry,
  type TimelineEntry,
  toActionEntry,
  transitionEntry,
} from '../../../subjects/incidents/timeline.ts';
import { pageGroupOf } from '../../../subjects/on-call/page.ts';
import type { Caller } from '../../callers/caller.ts';
import { eventSources } from '../../event-feed/sources.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readingOf } from '../../kernel/reading.ts';
import { newestRecords } from '../audit/chain/record-search.ts';

/** Maximum entries per source */
const maxEntries = 1000;
/** Time limit per source. An incident is resolved in a transaction, which may take 10 seconds. */
const maxReadMs = 4000;
/** Events before an incident may have caused it. */
const beforeMs = 3_600_000;

/** Context of a timeline read: a caller, or the platform. */
export interface TimelineContext {
  readonly tenantId: string;
  readonly reading: Reading;
  readonly ports: Pick<Ports, 'documents' | 'clock' | 'log' | 'configurationActions'>;
}

export const timelineContextOf = (caller: Caller, ports: Ports): TimelineContext => ({
  tenantId: caller.tenantId,
  reading: readingOf(caller, ports),
  ports,
});

type Known = Incident & Stored;

const rangeOf = ({ openedAt, resolvedAt }: Known, { reading, ports }: TimelineContext) => {
  const from = new Date(Date.parse(openedAt) - beforeMs).toISOString();
  const to = resolvedAt ?? new Date(ports.clock.now()).toISOString();
  return eventsRange({ from, to }, reading);
};

const transitions = async (incident: Known, context: TimelineContext): Promise<TimelineEntry[]> => {
  const { alertIds } = incident;
  if (alertIds.length === 0) return [];
  const page = { range: rangeOf(incident, context), limit: maxEntries };
  const rows = await readTransitions(context.reading, { alertIds }, page);
  return rows.map(transitionEntry);
};

/** Deployments of its services, or of all if it names none, and configuration changes except those of incidents. */
const events = async (incident: Known, context: TimelineContext): Promise<TimelineEntry[]> => {
  const { services } = incident;
  const query = { kinds: ['deployment', 'config'], isChosen: true, range: rangeOf(incident, context) };
  const partial: Incompleteness[] = [];
  const sources = eventSources(query, { ...context, partial });
  const { events: found } = await feedPage(sources, { limit: maxEntries, after: {} });
  return found
    .filter(({ kind, service }) => kind !== 'deployment' || services.length === 0 || services.includes(service))
    .filter(({ details }) => details.resourceType !== 'incident')
    .map(eventEntry);
};

/** Actions of the escalation, the oldest first. */
const pages = ({ id }: Known, { tenantId, ports }: Pick<TimelineContext, 'tenantId' | 'ports'>) =>
  ports.documents
    .of(tenantId)
    .collection(escalationActions)
    .list({ filter: { incidentId: id }, sort: { at: 1 }, limit: maxEntries });

/** Delivery results of its pages, from the ledger. */
const deliveries = async (incident: Known, context: TimelineContext): Promise<TimelineEntry[]> => {
  const { items } = await pages(incident, context);
  const names = new Map(items.map(({ id, to }) => [id, to === null ? '' : calledOf(to)]));
  if (names.size === 0) return [];
  const { openedAt, resolvedAt } = incident;
  const toMs = resolvedAt === null ? context.ports.clock.now() : Date.parse(resolvedAt);
  const steps = await readPageSteps(context.reading.columns, pageGroupOf(incident.id), {
    fromMs: Date.parse(openedAt),
    toMs,
    limit: maxEntries,
  });
  return steps.map((step) => deliveryEntry(step, names.get(step.id) ?? ''));
};

/**
 * Actions of people and escalation on the incident. They are read from documents, so they are available even without
 * telemetry.
 */
export const readActions = async (incident: Known, { tenantId, ports }: TimelineContext): Promise<TimelineEntry[]> => {
  const notes = await ports.documents
    .of(tenantId)
    .collection(incidentNotes)
    .list({ filter: { incidentId: incident.id }, sort: { at: 1 }, limit: maxEntries });
  const records = await recordsOf(incident.id, tenantId, ports.documents);
  const { items: actions } = await pages(incident, { tenantId, ports });
  return [...notes.items.map(noteEntry), ...records, ...actions.map(toActionEntry)];
};

const recordsOf = async (id: string, tenantId: string, documents: Documents): Promise<TimelineEntry[]> => {
  const filter = { resourceType: 'incident', resourceId: id };
  const records = await newestRecords(documents, tenantId, filter, { limit: maxEntries });
  return records.map(recordEntry);
};

/** Entries from telemetry. Unavailable sources are listed, so that an incident can be resolved anyway. */
export const observedOf = async (
  incident: Known,
  context: TimelineContext,
): Promise<{ readonly entries: readonly TimelineEntry[]; readonly missing: readonly string[] }> => {
  const read = await Promise.allSettled(
    [transitions(incident, context), events(incident, context), deliveries(incident, context)].map((reading) =>
      withTimeout(maxReadMs, reading),
    ),
  );
  const names = ['transitions of alerts', 'deployments and changes of configuration', 'deliveries of pages'];
  return {
    entries: read.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])),
    missing: read.flatMap((each, index) => {
      if (each.status === 'fulfilled') return [];
      context.ports.log.warn({ error: each.reason }, 'a source of a timeline could not be read');
      return [names[index] ?? ''];
    }),
  };
};
