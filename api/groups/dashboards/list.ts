import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type DashboardSummary, dashboardSummaries } from '../../../schemas/resources/dashboard.ts';
import { defineOperation } from '../../kernel/operation.ts';
import {
  createEqualsFilter,
  createListParameters,
  FacetValues,
  type ListDefinition,
  readFacets,
  readPage,
} from '../../resources/resource-list.ts';
import { storedView } from '../../resources/resource-spec.ts';
import { sharedOrOwnVisibility } from '../../resources/visibility.ts';
import { DashboardView, SourceName } from './dashboard.ts';

const listDefinition: ListDefinition = {
  searched: ['name', 'description'],
  filters: {
    tag: createEqualsFilter('tags'),
    folder: {
      ...createEqualsFilter('folders'),
      schema: z.string().min(1).max(512).optional().describe('Dashboards in this folder and below'),
    },
    visibility: createEqualsFilter('visibility'),
    ownerId: createEqualsFilter('ownerId'),
    source: {
      ...createEqualsFilter('source'),
      schema: SourceName.optional().describe('Dashboards managed as code by this source'),
    },
  },
};

const { name, description, folder, tags, visibility, ownerId, changedBy, documentVersion } = DashboardView.shape;

const Item = z.strictObject({
  name,
  description,
  folder,
  tags,
  visibility,
  ownerId,
  changedBy,
  documentVersion,
  panels: z.int().describe('Number of panels'),
  source: DashboardView.shape.source,
  ...storedView,
});

const toItem = (summary: DashboardSummary & StoredMetadata): z.input<typeof Item> => {
  const { folders: _, of, id, version: __, createdAt: ___, updatedAt: ____, ...rest } = summary;
  return { ...rest, tags: [...rest.tags], id, ...of };
};

const facetDefinitions = [
  { parameter: 'tag', field: 'tags' },
  { parameter: 'folder', field: 'folders' },
];
const noValues = { values: [], partial: false };

const facets = z
  .enum(['true', 'false'])
  .optional()
  .describe('true: also returns tags and folders with the number of dashboards in each');

export const listDashboards = defineOperation({
  method: 'GET',
  path: '/api/dashboards',
  operationId: 'listDashboards',
  summary: 'List dashboards without their panels; search them by text, tag and folder',
  role: 'viewer',
  query: createListParameters(listDefinition).extend({ facets }),
  response: z.strictObject({
    items: z.array(Item),
    nextCursor: z.string().nullable(),
    facets: z
      .strictObject({
        tags: FacetValues.describe('Of the dashboards that match all parameters except tag'),
        folders: FacetValues.describe(
          'Of the dashboards that match all parameters except folder, each including its subfolders',
        ),
      })
      .nullable()
      .describe('null if not requested'),
  }),
  async handler({ caller, query }, { documents, clock }) {
    const summaries = documents.forTenant(caller.tenantId).collection(dashboardSummaries);
    const now = new Date(clock.now()).toISOString();
    const pageRequest = { query, now, where: sharedOrOwnVisibility.where(caller) };
    const { items, nextCursor } = await readPage(summaries, listDefinition, pageRequest);
    if (query.facets !== 'true') return { items: items.map(toItem), nextCursor, facets: null };
    const [tags = noValues, folders = noValues] = await readFacets(summaries, listDefinition, {
      ...pageRequest,
      facets: facetDefinitions,
    });
    return { items: items.map(toItem), nextCursor, facets: { tags, folders } };
  },
});
