/** Events near an anomaly: events of the feed, and Kubernetes events. */
import { findRangeProblem, type Range } from '../../../queries/range.ts';
import type { Incompleteness } from '../../../queries/result.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import type { StoredAnomaly } from '../../../subjects/anomalies/read-anomalies.ts';
import type { FeedEvent } from '../../../subjects/events/events.ts';
import { readFeedPage } from '../../../subjects/events/feed.ts';
import { type KubernetesEvent, readEvents } from '../../../subjects/kubernetes/events.ts';
import type { Caller } from '../../callers/caller.ts';
import { createEventSources } from '../../event-feed/sources.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

/** Time range of events near an anomaly, before and after its start. */
const eventWindow = { beforeMs: 3_600_000, afterMs: 600_000, max: 50 };
const eventKinds = ['deployment', 'config', 'alert', 'anomaly', 'incident', 'custom'];

export const toRange = (fromMs: number, toMs: number): Range => ({
  from: BigInt(fromMs) * 1_000_000n,
  to: BigInt(toMs) * 1_000_000n,
});

const getEventRange = ({ beginMs }: StoredAnomaly): Range =>
  toRange(beginMs - eventWindow.beforeMs, beginMs + eventWindow.afterMs);

export const readEventsNear = async (
  anomaly: StoredAnomaly,
  { caller, ports, partial }: { readonly caller: Caller; readonly ports: Ports; readonly partial: Incompleteness[] },
): Promise<FeedEvent[]> => {
  const query = {
    range: getEventRange(anomaly),
    kinds: eventKinds,
    hasExplicitKinds: true,
    projectId: anomaly.projectId || undefined,
  };
  const sources = createEventSources(query, {
    reader: createQueryReader(caller, ports),
    ports,
    partial,
    tenantId: caller.tenantId,
  });
  const { events } = await readFeedPage(sources, { limit: eventWindow.max, after: {} });
  return events.filter(({ details }) => details['anomalyId'] !== anomaly.id);
};

/**
 * Warnings are read separately, because clusters emit many other events. Kubernetes events are stored as log records,
 * and the plan may not include logs.
 */
export const readClusterEventsNear = async (
  anomaly: StoredAnomaly,
  { reader, partial }: { readonly reader: TenantReader; readonly partial: Incompleteness[] },
): Promise<KubernetesEvent[]> => {
  const range = getEventRange(anomaly);
  const reason = findRangeProblem(range, { caller: reader, signal: 'logs', nowMs: reader.nowMs });
  if (reason !== undefined) {
    partial.push({ code: 'retention', message: `no Kubernetes events: ${reason}` });
    return [];
  }
  const scope = { projectId: anomaly.projectId || undefined };
  const pages = await Promise.all(
    (['Warning', 'Normal'] as const).map((type) =>
      readEvents(reader, range, { type, ...scope }, { limit: eventWindow.max }),
    ),
  );
  return pages
    .flatMap(({ items }) => items)
    .toSorted((left, right) => (left.timestamp < right.timestamp ? 1 : left.timestamp > right.timestamp ? -1 : 0));
};
