import { z } from 'zod';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { alertSeverities } from '../../../schemas/alerts.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import { computeMetrics, computeMetricsBy } from '../../../subjects/incidents/metrics.ts';
import { countPages, countPagesByUser } from '../../../subjects/on-call/pages.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readPages } from './pages.ts';
import { parseTimeParameter, Time } from './times.ts';

const NullableSeconds = z.number().nullable();
const Durations = z
  .strictObject({
    count: z.int().describe('Number of incidents'),
    median: NullableSeconds,
    mean: NullableSeconds,
    p90: NullableSeconds,
  })
  .describe('Seconds since opening; null if there are none');

const metricFields = {
  incidents: z.int(),
  open: z.int(),
  acknowledged: z.int(),
  resolved: z.int(),
  merged: z.int(),
  neverAcknowledged: z.int().describe('Number of incidents that the list returns for acknowledged=never'),
  timeToAcknowledge: Durations.describe('Time to the first acknowledgement; of all incidents except merged ones'),
  timeToResolve: Durations.describe('Of resolved incidents'),
};
const pageMetricFields = {
  pages: z.int(),
  atNight: z.int().describe('From 22:00 to 06:00 in the time zone of the organization'),
};
const MetricsByKey = z.array(z.strictObject({ key: z.string(), ...metricFields }));

/** Maximum number of incidents in the metrics */
const maxIncidents = 10_000;

const readIncidents = async (
  { documents }: Ports,
  tenantId: string,
  filter: Readonly<Record<string, unknown>>,
): Promise<(Incident & StoredMetadata)[]> => {
  const allIncidents: (Incident & StoredMetadata)[] = [];
  const newest = iterateDocuments(documents.forTenant(tenantId).collection(incidents), {
    filter,
    sort: { openedAt: -1 },
  });
  for await (const incident of newest) {
    allIncidents.push(incident);
    // One more than the limit shows that there are more.
    if (allIncidents.length > maxIncidents) break;
  }
  return allIncidents;
};

export const getIncidentMetrics = defineOperation({
  method: 'GET',
  path: '/api/incidents/metrics',
  operationId: 'getIncidentMetrics',
  summary: 'Count incidents, and get their times to acknowledge and to resolve',
  role: 'viewer',
  query: z.strictObject({
    from: Time.default('now-30d'),
    to: Time.default('now'),
    severity: z.enum(alertSeverities).optional(),
    service: z.string().min(1).max(256).optional(),
    escalationPolicyId: z.string().min(1).max(128).optional(),
  }),
  response: z.strictObject({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    ...metricFields,
    bySeverity: MetricsByKey,
    byService: MetricsByKey.describe('An incident of several services counts for each of them'),
    byPolicy: z
      .array(z.strictObject({ escalationPolicyId: z.string().nullable(), ...metricFields }))
      .describe('By escalation policy; null for incidents without a policy'),
    pages: z
      .strictObject({
        ...pageMetricFields,
        byPerson: z.array(z.strictObject({ userId: z.string(), ...pageMetricFields })),
        isTruncated: z
          .boolean()
          .describe('Whether there are more than the newest 20,000, to which the metrics are limited'),
      })
      .describe('Pages of the range, as in their list, independent of the incident filters'),
    isTruncated: z
      .boolean()
      .describe('Whether there are more than the newest 10,000, to which the metrics are limited'),
  }),
  async handler({ caller, query }, ports) {
    const now = new Date(ports.clock.now()).toISOString();
    const [from, to] = [parseTimeParameter('from', query.from, now), parseTimeParameter('to', query.to, now)];
    if (from > to) throw createFieldError('from', 'must be before to');
    const { severity, service, escalationPolicyId } = query;
    const filter = {
      openedAt: { $gte: from, $lte: to },
      ...(severity !== undefined && { severity }),
      ...(service !== undefined && { services: service }),
      ...(escalationPolicyId !== undefined && { escalationPolicyId }),
    };
    const foundIncidents = await readIncidents(ports, caller.tenantId, filter);
    const pageResult = await readPages(ports, caller.tenantId, { from, to });
    const firstIncidents = foundIncidents.slice(0, maxIncidents);
    return {
      from,
      to,
      ...computeMetrics(firstIncidents),
      isTruncated: foundIncidents.length > maxIncidents,
      bySeverity: computeMetricsBy(firstIncidents, (incident) => [incident.severity]),
      byService: computeMetricsBy(firstIncidents, (incident) => incident.services),
      byPolicy: computeMetricsBy(firstIncidents, (incident) => [incident.escalationPolicyId ?? '']).map(
        ({ key, ...metrics }) => ({
          escalationPolicyId: key === '' ? null : key,
          ...metrics,
        }),
      ),
      pages: {
        ...countPages(pageResult.pages),
        byPerson: countPagesByUser(pageResult.pages),
        isTruncated: pageResult.isTruncated,
      },
    };
  },
});
