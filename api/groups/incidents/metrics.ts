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
  .strictObject({ count: z.int().describe('How many it is of'), median: seconds, mean: seconds, p90: seconds })
  .describe('Seconds from when they were opened; null where there are none');

const figures = {
  incidents: z.int(),
  open: z.int(),
  acknowledged: z.int(),
  resolved: z.int(),
  merged: z.int(),
  neverAcknowledged: z.int().describe('As the list with acknowledged=never'),
  timeToAcknowledge: Durations.describe('To the first acknowledgement; of all but merged ones'),
  timeToResolve: Durations.describe('Of resolved ones'),
};
const PageFigures = {
  pages: z.int(),
  atNight: z.int().describe('From 22:00 to 06:00 in the time zone of the organization'),
};
const Grouped = z.array(z.strictObject({ key: z.string(), ...figures }));

/** Incidents that are looked at. */
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
    // One more than is looked at tells that there are more.
    if (found.length > maxIncidents) break;
  }
  return found;
};

export const getIncidentMetrics = defineOperation({
  method: 'GET',
  path: '/api/incidents/metrics',
  operationId: 'getIncidentMetrics',
  summary: 'Count incidents, and say how long it took to acknowledge and to resolve them',
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
    byService: Grouped.describe('One of several services counts under each'),
    byPolicy: z
      .array(z.strictObject({ escalationPolicyId: z.string().nullable(), ...figures }))
      .describe('By escalation policy; null for those without one'),
    pages: z
      .strictObject({
        ...PageFigures,
        byPerson: z.array(z.strictObject({ userId: z.string(), ...PageFigures })),
        isCut: z.boolean().describe('Whether there are more than the newest 20,000, of which these figures are'),
      })
      .describe('Pages of the range, as their list has them, whichever incidents are asked for'),
    isCut: z.boolean().describe('Whether there are more than the newest 10,000, of which these figures are'),
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
