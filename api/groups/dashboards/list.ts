import { z } from 'zod';
import type { Stored } from '../../../schemas/ports/documents.ts';
import { type DashboardSummary, dashboardSummaries } from '../../../schemas/resources/dashboard.ts';
import { DashboardView, SourceName } from '../../dashboards/dashboard.ts';
import { defineOperation } from '../../kernel/operation.ts';
import {
  equals,
  FacetValues,
  type Listing,
  listParameters,
  readFacets,
  readPage,
} from '../../resources/resource-list.ts';
import { storedView } from '../../resources/resource-spec.ts';
import { sharedOrOwn } from '../../resources/shared-or-own.ts';

const listing: Listing = {
  searched: ['name', 'description'],
  filters: {
    tag: equals('tags'),
    folder: { ...equals('folders'), schema: z.string().min(1).max(512).optional().describe('Those in it and below') },
    visibility: equals('visibility'),
    ownerId: equals('ownerId'),
    source: {
      ...equals('source'),
      schema: SourceName.optional().describe('Those that are kept as code there'),
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
  panels: z.int().describe('How many'),
  source: DashboardView.shape.source,
  ...storedView,
});

const itemOf = (summary: DashboardSummary & Stored): z.input<typeof Item> => {
  const { folders: _, of, id, version: __, createdAt: ___, updatedAt: ____, ...rest } = summary;
  return { ...rest, tags: [...rest.tags], id, ...of };
};

const facetsOf = [
  { parameter: 'tag', field: 'tags' },
  { parameter: 'folder', field: 'folders' },
];
const none = { values: [], partial: false };

const facets = z.enum(['true', 'false']).optional().describe('true: tells tags and folders with how many have each');

export const listDashboards = defineOperation({
  method: 'GET',
  path: '/api/dashboards',
  operationId: 'listDashboards',
  summary: 'List dashboards without their panels; search them by text, tag and folder',
  role: 'viewer',
  query: listParameters(listing).extend({ facets }),
  response: z.strictObject({
    items: z.array(Item),
    nextCursor: z.string().nullable(),
    facets: z
      .strictObject({
        tags: FacetValues.describe('Of what the parameters other than tag find'),
        folders: FacetValues.describe('Of what the parameters other than folder find, each with those below it'),
      })
      .nullable()
      .describe('null where they are not asked for'),
  }),
  async handler({ caller, query }, { documents, clock }) {
    const summaries = documents.of(caller.tenantId).collection(dashboardSummaries);
    const now = new Date(clock.now()).toISOString();
    const pageRequest = { query, now, where: sharedOrOwn.where(caller) };
    const { items, nextCursor } = await readPage(summaries, listing, pageRequest);
    if (query.facets !== 'true') return { items: items.map(itemOf), nextCursor, facets: null };
    const [tags = none, folders = none] = await readFacets(summaries, listing, { ...pageRequest, facets: facetsOf });
    return { items: items.map(itemOf), nextCursor, facets: { tags, folders } };
  },
});
