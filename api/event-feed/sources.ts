/** Sources of feed events: stored events, detected deployments, signals, file changes, and the audit log. */
import { z } from 'zod';
import { int64Pattern } from '../../queries/cursor.ts';
import { findRangeProblem, type Range } from '../../queries/range.ts';
import type { Incompleteness } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime, parseTime } from '../../queries/time.ts';
import { toSignalEvent } from '../../subjects/detections/signal-events.ts';
import { readSignals } from '../../subjects/detections/stored-signals.ts';
import { type FeedEvent, readEvents } from '../../subjects/events/events.ts';
import type { EventSource } from '../../subjects/events/feed.ts';
import { readUnapprovedChanges } from '../../subjects/file-integrity/unapproved.ts';
import { readDeployments, toDeploymentEvent } from '../../subjects/services/deployments.ts';
import type { StoredRecord } from '../groups/audit/chain/record-pages.ts';
import { findNewestRecords } from '../groups/audit/chain/record-search.ts';
import type { Ports } from '../kernel/ports.ts';

const StoredEventPosition = z
  .strictObject({ time: z.string().regex(int64Pattern), kind: z.string(), id: z.string() })
  .optional();
/** Start position of a page in each source. */
export const Positions = z.strictObject({
  events: StoredEventPosition,
  recorded: StoredEventPosition,
  deployments: z.strictObject({ time: z.string(), id: z.string() }).optional(),
  signals: z.strictObject({ ms: z.string().regex(int64Pattern), id: z.string() }).optional(),
  files: z.strictObject({ ms: z.string().regex(int64Pattern), id: z.string() }).optional(),
  incidents: z.int().optional(),
  config: z.int().optional(),
});

/** Filter of events. */
export interface EventQuery {
  readonly range: Range;
  readonly kinds: readonly string[];
  /** Whether the caller chose the kinds; if so, kinds that cannot be read are reported. */
  readonly hasExplicitKinds: boolean;
  readonly service?: string | undefined;
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
  /** Only changes of the configuration of these resources */
  readonly resourceIds?: readonly string[] | undefined;
}

interface SourceContext {
  readonly reader: TenantReader;
  readonly ports: Pick<Ports, 'documents' | 'configurationActions'>;
  readonly tenantId: string;
  /** Receives the omitted kinds. */
  readonly partial: Incompleteness[];
}

/** Returns a source for each requested kind of event that the caller may read. */
export const createEventSources = (
  query: EventQuery,
  { reader, ports, partial, tenantId }: SourceContext,
): EventSource[] => {
  const sources: EventSource[] = [];
  const kinds = query.kinds.filter((kind) => kind !== 'deployment' && kind !== 'config');
  if (kinds.length > 0) sources.push(createStoredEventSource({ ...query, kinds }, reader));
  if (query.kinds.includes('deployment')) {
    const reason = findRangeProblem(query.range, { caller: reader, signal: 'traces', nowMs: reader.nowMs });
    // Events that were already recorded are still available.
    if (reason !== undefined) {
      partial.push({ code: 'retention', message: `only recorded deployments: ${reason}` });
      sources.push({ ...createStoredEventSource({ ...query, kinds: ['deployment'] }, reader), name: 'recorded' });
    } else sources.push(createDeploymentSource(query, reader));
  }
  sources.push(...createSecuritySources(query, { reader, ports, partial, tenantId }));
  // Configuration belongs to the organization, and not to a service or project.
  const isForAllServices = query.service === undefined && (query.projectId === undefined || query.scope === 'account');
  if (query.kinds.includes('incident') && isForAllServices) sources.push(createIncidentSource(query, ports, tenantId));
  if (query.kinds.includes('config') && isForAllServices)
    sources.push(createConfigurationSource(query, ports, tenantId));
  return sources;
};

/** Sources of security events, if the plan includes the SIEM. */
const createSecuritySources = (query: EventQuery, context: SourceContext): EventSource[] => {
  const { reader, partial } = context;
  const reason = findRangeProblem(query.range, { caller: reader, signal: 'detections', nowMs: reader.nowMs });
  const requestedKinds = [
    { kind: 'signal', what: 'signals of detection rules', source: () => createSignalSource(query, reader) },
    { kind: 'file', what: 'changes of files', source: () => createFileChangeSource(query, context) },
  ].filter(({ kind }) => query.kinds.includes(kind));
  if (reason === undefined) return requestedKinds.map(({ source }) => source());
  if (query.hasExplicitKinds)
    for (const { what } of requestedKinds) partial.push({ code: 'retention', message: `no ${what}: ${reason}` });
  return [];
};

const createStoredEventSource = (query: EventQuery, reader: TenantReader): EventSource => ({
  name: 'events',
  async next(limit, after) {
    const position = StoredEventPosition.parse(after);
    const events = await readEvents(reader, query, { limit, after: position });
    return events.map((event) => ({
      event,
      position: { time: String((parseTime(event.time, 0) ?? 0n) / 1_000_000n), kind: event.kind, id: event.id },
    }));
  },
});

const createSignalSource = ({ range, service, projectId, scope }: EventQuery, reader: TenantReader): EventSource => ({
  name: 'signals',
  async next(limit, after) {
    const filter = { service, projectId: scope === 'account' ? undefined : projectId, withSuppressed: false };
    const page = { range, limit, after: Positions.shape.signals.parse(after) };
    const signals = await readSignals(reader, filter, page);
    return signals.map((signal) => ({ event: toSignalEvent(signal), position: { ms: signal.ms, id: signal.id } }));
  },
});

const createFileChangeSource = (
  { range, service, projectId, scope }: EventQuery,
  { reader, ports, partial, tenantId }: SourceContext,
): EventSource => ({
  name: 'files',
  async next(limit, after) {
    const page = { range, limit, after: Positions.shape.files.parse(after) };
    const tenantDocuments = ports.documents.forTenant(tenantId);
    const { events, isComplete } = await readUnapprovedChanges(
      { reader, tenantDocuments },
      { service, projectId, scope },
      page,
    );
    if (!isComplete)
      partial.push({
        code: 'rows',
        message: 'only the newest 5,000 file changes were read: request a shorter range',
      });
    return events.map(({ event, ms }) => ({ event, position: { ms, id: event.id } }));
  },
});

const createDeploymentSource = (query: EventQuery, reader: TenantReader): EventSource => ({
  name: 'deployments',
  async next(limit, after) {
    const position = Positions.shape.deployments.parse(after);
    const { deployments } = await readDeployments(reader, query);
    const remainingDeployments = deployments.filter(
      ({ time, id }) => position === undefined || time < position.time || (time === position.time && id < position.id),
    );
    return remainingDeployments.slice(0, limit).map((remainingDeployment) => ({
      event: toDeploymentEvent(remainingDeployment),
      position: { time: remainingDeployment.time, id: remainingDeployment.id },
    }));
  },
});

/** Actions of people and the platform on incidents. Incidents that alerts opened or reopened are stored as events. */
const incidentVerbs: Readonly<Record<string, string>> = {
  'incident.create': 'declared',
  'incident.acknowledge': 'acknowledged',
  'incident.resolve': 'resolved',
  'incident.reopen': 'reopened',
};

const toMilliseconds = ({ from, to }: Range) => ({
  fromMs: Number(from / 1_000_000n),
  toMs: Number(to / 1_000_000n),
});

const createIncidentSource = (
  { range }: EventQuery,
  { documents }: SourceContext['ports'],
  tenantId: string,
): EventSource => ({
  name: 'incidents',
  async next(limit, after) {
    const filter = { ...toMilliseconds(range), actions: Object.keys(incidentVerbs) };
    const page = { limit, before: Positions.shape.incidents.parse(after) };
    const records = await findNewestRecords(documents, tenantId, filter, page);
    return records.map((record) => ({ event: toIncidentEvent(record), position: record.sequence }));
  },
});

const toIncidentEvent = ({ id, at, action, actor, resource, details }: StoredRecord): FeedEvent => ({
  id,
  kind: 'incident',
  severity: 'info',
  text: '',
  projectId: '',
  service: '',
  environment: '',
  tags: {},
  link: '',
  actor,
  time: formatTime(BigInt(Date.parse(at)) * 1_000_000n),
  title: `Incident ${incidentVerbs[action]}: ${details?.resourceName || resource.id}`,
  details: { incidentId: resource.id },
});

/**
 * Changes of configuration that every Viewer may read, with type and name; the actor only by id. Never addresses or
 * values.
 */
const createConfigurationSource = (
  { range, resourceIds }: EventQuery,
  ports: SourceContext['ports'],
  tenantId: string,
): EventSource => ({
  name: 'config',
  async next(limit, after) {
    // Incident actions already appear as incident events.
    const actions = ports.configurationActions.filter((action) => !(action in incidentVerbs));
    const filter = { ...toMilliseconds(range), actions, resourceIds };
    const records = await findNewestRecords(ports.documents, tenantId, filter, {
      limit,
      before: Positions.shape.config.parse(after),
    });
    return records.map(({ id, at, action, actor, resource, details, sequence }) => ({
      event: {
        id,
        kind: 'config',
        severity: 'info',
        text: '',
        projectId: '',
        service: '',
        environment: '',
        tags: {},
        link: '',
        actor,
        time: formatTime(BigInt(Date.parse(at)) * 1_000_000n),
        title: `${action}${details === null || details.resourceName === '' ? '' : ` ${details.resourceName}`}`,
        details: { action, resourceType: resource.type, resourceId: resource.id },
      },
      position: sequence,
    }));
  },
});
