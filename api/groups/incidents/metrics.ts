import { z } from 'zod';
import { documentsIn } from '../../../runtime/documents-in.ts';
import { alertSeverities } from '../../../schemas/alerts.ts';
import type { Stored } from '../../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import { figuresBy, figuresOf } from '../../../subjects/incidents/metrics.ts';
import { pagedByPerson, pagedFigures } from '../../../subjects/on-call/paged.ts';
import { invalid } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readPaged } from './pages.ts';
import { Time, timeOf } from './times.ts';

const seconds = z.number().nullable();
const Durations = z
  .strictObject({ count: z.int().describe('Number of incidents'), median: seconds, mean: seconds, p90: seconds })
  .describe('Seconds since opening; null if there are none');

const figures = {
  incidents: z.int(),
  open: z.int(),
  acknowledged: z.int(),
  resolved: z.int(),
  merged: z.int(),
  neverAcknowledged: z.int().describe('Number of incidents that the list returns for acknowledged=never'),
  timeToAcknowledge: Durations.describe('Time to the first acknowledgement; of all incidents except merged ones'),
  timeToResolve: Durations.describe('Of resolved incidents'),
};
const PageFigures = {
  pages: z.int(),
  atNight: z.int().describe('From 22:00 to 06:00 in the time zone of the organization'),
};
const Grouped = z.array(z.strictObject({ key: z.string(), ...figures }));

/** Maximum number of incidents in the metrics */
const maxIncidents = 10_000;

const read = async (
  { documents }: Ports,
  tenantId: string,
  filter: Readonly<Record<string, unknown>>,
): Promise<(Incident & Stored)[]> => {
  const found: (Incident & Stored)[] = [];
  const newest = documentsIn(documents.of(tenantId).collection(incidents), { filter, sort: { openedAt: -1 } });
  for await (const incident of newest) {
    found.push(incident);
    // One more than the limit shows that there are more.
    if (found.length > maxIncidents) break;
  }
  return found;
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
    ...figures,
    bySeverity: Grouped,
    byService: Grouped.describe('An incident of several services counts for each of them'),
    byPolicy: z
      .array(z.strictObject({ escalationPolicyId: z.string().nullable(), ...figures }))
      .describe('By escalation policy; null for incidents without a policy'),
    pages: z
      .strictObject({
        ...PageFigures,
        byPerson: z.array(z.strictObject({ userId: z.string(), ...PageFigures })),
        isCut: z.boolean().describe('Whether there are more than the newest 20,000, to which the metrics are limited'),
      })
      .describe('Pages of the range, as in their list, independent of the incident filters'),
    isCut: z.boolean().describe('Whether there are more than the newest 10,000, to which the metrics are limited'),
  }),
  async handler({ caller, query }, ports) {
    const now = new Date(ports.clock.now()).toISOString();
    const [from, to] = [timeOf('from', query.from, now), timeOf('to', query.to, now)];
    if (from > to) throw invalid('from', 'must be before to');
    const { severity, service, escalationPolicyId } = query;
    const filter = {
      openedAt: { $gte: from, $lte: to },
      ...(severity !== undefined && { severity }),
      ...(service !== undefined && { services: service }),
      ...(escalationPolicyId !== undefined && { escalationPolicyId }),
    };
    const found = await read(ports, caller.tenantId, filter);
    const paged = await readPaged(ports, caller.tenantId, { from, to });
    const firstIncidents = found.slice(0, maxIncidents);
    return {
      from,
      to,
      ...figuresOf(firstIncidents),
      isCut: found.length > maxIncidents,
      bySeverity: figuresBy(firstIncidents, (incident) => [incident.severity]),
      byService: figuresBy(firstIncidents, (incident) => incident.services),
      byPolicy: figuresBy(firstIncidents, (incident) => [incident.escalationPolicyId ?? '']).map(({ key, ...its }) => ({
        escalationPolicyId: key === '' ? null : key,
        ...its,
      })),
      pages: { ...pagedFigures(paged.pages), byPerson: pagedByPerson(paged.pages), isCut: paged.isCut },
    };
  },
});
