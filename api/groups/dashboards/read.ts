import { z } from 'zod';
import type { Stored } from '../../../schemas/ports/documents.ts';
import { ConflictError } from '../../../schemas/ports/documents.ts';
import { dashboardOpenings } from '../../../schemas/resources/dashboard.ts';
import { addView } from '../../../subjects/dashboards/openings.ts';
import type { Caller } from '../../callers/caller.ts';
import { notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { DashboardView, type Document, dashboardResource } from './dashboard.ts';

/** Returns a dashboard that the caller may see. */
export const foundDashboard = async (id: string, caller: Caller, { documents }: Ports): Promise<Document & Stored> => {
  const found = await documents.of(caller.tenantId).collection(dashboardResource.collection).find(id);
  if (found === undefined || !dashboardResource.visibleTo(found, caller)) throw notFound('dashboard');
  return found;
};

/**
 * Counts a view. Two concurrent views may count once: the number shows whether a dashboard is used and is not exact.
 */
const countOpening = async (id: string, { tenantId }: Caller, { documents, clock }: Ports): Promise<void> => {
  const openings = documents.of(tenantId).collection(dashboardOpenings);
  try {
    const known = await openings.find(id);
    const next = addView(known, clock.now());
    if (known === undefined) await openings.insert({ id, ...next });
    else await openings.replace(id, next, known.version);
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
    const found = await foundDashboard(params.id, caller, ports);
    if (query.countView === 'true') await countOpening(found.id, caller, ports);
    return dashboardResource.answer(found, input, ports);
  },
});
