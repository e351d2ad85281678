import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { ConflictError } from '../../../schemas/ports/documents.ts';
import { dashboardOpenings } from '../../../schemas/resources/dashboard.ts';
import { addView } from '../../../subjects/dashboards/view-counts.ts';
import type { Caller } from '../../callers/caller.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { DashboardView, type Document, dashboardResource } from './dashboard.ts';

/** Returns a dashboard that the caller may see. */
export const findDashboard = async (
  id: string,
  caller: Caller,
  { documents }: Ports,
): Promise<Document & StoredMetadata> => {
  const stored = await documents.forTenant(caller.tenantId).collection(dashboardResource.collection).find(id);
  if (stored === undefined || !dashboardResource.isVisibleTo(stored, caller)) throw createNotFoundError('dashboard');
  return stored;
};

/**
 * Counts a view. Two concurrent views may count once: the number shows whether a dashboard is used and is not exact.
 */
const countView = async (id: string, { tenantId }: Caller, { documents, clock }: Ports): Promise<void> => {
  const viewCounters = documents.forTenant(tenantId).collection(dashboardOpenings);
  try {
    const counter = await viewCounters.find(id);
    const next = addView(counter, clock.now());
    if (counter === undefined) await viewCounters.insert({ id, ...next });
    else await viewCounters.replace(id, next, counter.version);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
};

export const getDashboard = defineOperation({
  method: 'GET',
  path: '/api/dashboards/{id}',
  operationId: 'getDashboard',
  summary: 'Get a dashboard',
  role: 'viewer',
  versions: 'shown',
  params: idParameter,
  query: z.strictObject({
    countView: z.enum(['true']).optional().describe('true: counts as a view by a person'),
  }),
  response: DashboardView,
  async handler(input, ports) {
    const { caller, params, query } = input;
    const dashboard = await findDashboard(params.id, caller, ports);
    if (query.countView === 'true') await countView(dashboard.id, caller, ports);
    return dashboardResource.sendView(dashboard, input, ports);
  },
});
