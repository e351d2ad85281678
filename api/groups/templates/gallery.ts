import { z } from 'zod';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { templateFavourites, templateUses } from '../../../schemas/resources/dashboard-template.ts';
import {
  type AvailableData,
  assessPanels,
  collectNeeds,
  readAvailableData,
  recentHours,
} from '../../../subjects/dashboards/templates/fit.ts';
import {
  computeFilledShare,
  countFilledPanels,
  rankTemplates,
  type TemplateStatus,
} from '../../../subjects/dashboards/templates/rank-templates.ts';
import { loadTemplates, type Template } from '../../../subjects/dashboards/templates/templates.ts';
import type { Caller } from '../../callers/caller.ts';
import { createNotFoundError } from '../../errors.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

/** Returns a template by its id. */
export const findTemplate = async (id: string): Promise<Template> => {
  const template = (await loadTemplates()).find((template) => template.id === id);
  if (template === undefined) throw createNotFoundError('template');
  return template;
};

/** Reads with one query which data of the templates exists; undefined if the telemetry is currently unavailable. */
const tryReadAvailableData = async (
  galleryTemplates: readonly Template[],
  caller: Caller,
  ports: Ports,
): Promise<AvailableData | undefined> => {
  try {
    const needs = galleryTemplates.flatMap(({ panels }) => collectNeeds(panels));
    return await readAvailableData(createQueryReader(caller, ports), needs);
  } catch (error) {
    ports.log.warn({ error: String(error) }, 'cannot read the telemetry for templates');
    return undefined;
  }
};

/** A template with its position in the gallery of an organization, for the caller. */
export interface RankedTemplate extends TemplateStatus {
  readonly isFavourite: boolean;
  readonly rank: number;
}

/** Returns all templates, ranked for an organization. */
export const readGallery = async (caller: Caller, ports: Ports): Promise<RankedTemplate[]> => {
  const allTemplates = await loadTemplates();
  const tenantDocuments = ports.documents.forTenant(caller.tenantId);
  const dashboardCounts = new Map<string, number>();
  const favouriteCounts = new Map<string, number>();
  const ownFavourites = new Set<string>();
  const increment = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1);
  const availableData = await tryReadAvailableData(allTemplates, caller, ports);
  for await (const { templateId } of iterateDocuments(tenantDocuments.collection(templateUses)))
    increment(dashboardCounts, templateId);
  for await (const { templateId, userId } of iterateDocuments(tenantDocuments.collection(templateFavourites))) {
    increment(favouriteCounts, templateId);
    if (userId === caller.actor.id) ownFavourites.add(templateId);
  }
  const entries = allTemplates.map((template): TemplateStatus => {
    const panels = availableData && assessPanels(template.panels, availableData);
    return {
      template,
      panels,
      dashboards: dashboardCounts.get(template.id) ?? 0,
      favourites: favouriteCounts.get(template.id) ?? 0,
    };
  });
  return rankTemplates(entries).map((entry, index) => ({
    ...entry,
    isFavourite: ownFavourites.has(entry.template.id),
    rank: index + 1,
  }));
};

/** A template in a list, with the values that determine its position. */
export const TemplateItem = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  templateVersion: z.string().describe('Changes with each change of the content'),
  sentBy: z.array(z.string()).describe('Senders of the telemetry in its panels'),
  place: z
    .int()
    .positive()
    .describe('Position in the order: by share, then by number of dashboards, then by favorites'),
  share: z
    .number()
    .nullable()
    .describe(
      `Share of its panels whose metrics and fields arrived in the last ${recentHours} hours, 0 to 1; null: currently unknown`,
    ),
  filled: z.int().nullable().describe('Panels with data; null: currently unknown'),
  panels: z.int().describe('Panels with a query'),
  dashboards: z.int().describe('Dashboards that this organization created from it'),
  favourites: z.int().describe('Number of people in this organization with it as a favorite'),
  isFavourite: z.boolean().describe('Whether it is a favorite of the caller'),
});

export const toTemplateItem = (rankedTemplate: RankedTemplate): z.input<typeof TemplateItem> => {
  const { template, rank, dashboards, favourites, isFavourite } = rankedTemplate;
  const { id, version, sentBy, document, panels } = template;
  return {
    id,
    name: document.name,
    description: document.description,
    tags: document.tags,
    templateVersion: version,
    sentBy: [...sentBy],
    place: rank,
    dashboards,
    favourites,
    isFavourite,
    share: computeFilledShare(rankedTemplate) ?? null,
    filled: countFilledPanels(rankedTemplate) ?? null,
    panels: panels.length,
  };
};
