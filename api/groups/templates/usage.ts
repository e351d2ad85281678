import { z } from 'zod';
import { documentsIn } from '../../../runtime/documents-in.ts';
import { dashboardOpenings, dashboardSummaries } from '../../../schemas/resources/dashboard.ts';
import { templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { countedDays, timesOpened } from '../../../subjects/dashboards/openings.ts';
import { templates } from '../../../subjects/dashboards/templates/templates.ts';
import { defineOperation } from '../../kernel/operation.ts';

const Figures = z.strictObject({
  id: z.string(),
  name: z.string(),
  made: z.int().describe('Dashboards that were made of it'),
  present: z.int().describe('Those of them that are still there'),
  opened: z.int().describe('How often people opened these, in `openedDays`'),
  lastMadeAt: z.iso.datetime().nullable(),
});

export const getTemplateUsage = defineOperation({
  method: 'GET',
  path: '/api/templates/usage',
  operationId: 'getTemplateUsage',
  summary: 'Get how often dashboards were made of each template, and how often these were opened',
  role: 'viewer',
  response: z.strictObject({ openedDays: z.int(), items: z.array(Figures) }),
  async handler({ caller }, { documents, clock }) {
    const own = documents.of(caller.tenantId);
    const figures = new Map(
      (await templates()).map(({ id, document: { name } }) => [
        id,
        { id, name, made: 0, present: 0, opened: 0, lastMadeAt: null as string | null },
      ]),
    );
    for await (const { id, templateId, createdAt, isGone: isDeleted } of documentsIn(own.collection(templateUses))) {
      const of = figures.get(templateId);
      if (of === undefined) continue;
      of.made++;
      if (of.lastMadeAt === null || createdAt > of.lastMadeAt) of.lastMadeAt = createdAt;
      if (isDeleted) continue;
      const [summary, openings] = await Promise.all([
        own.collection(dashboardSummaries).find(id),
        own.collection(dashboardOpenings).find(id),
      ]);
      if (summary !== undefined) of.present++;
      of.opened += timesOpened(openings, clock.now());
    }
    return { openedDays: countedDays, items: [...figures.values()].sort((one, other) => other.made - one.made) };
  },
});
