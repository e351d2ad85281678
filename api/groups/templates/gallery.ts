import { z } from 'zod';
import { documentsIn } from '../../../runtime/documents-in.ts';
import { templateFavourites, templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { fitOf, type Landed, landedHours, landedOf, needsOf } from '../../../subjects/dashboards/templates/fit.ts';
import { filledOf, ranked, shareOf, type TemplateStatus } from '../../../subjects/dashboards/templates/ranking.ts';
import { type Template, templates } from '../../../subjects/dashboards/templates/templates.ts';
import type { Caller } from '../../callers/caller.ts';
import { notFound } from '../../errors.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readingOf } from '../../kernel/reading.ts';

/** A template by its id. */
export const foundTemplate = async (id: string): Promise<Template> => {
  const found = (await templates()).find((template) => template.id === id);
  if (found === undefined) throw notFound('template');
  return found;
};

/** What has landed of all that templates need, in one question; undefined where it cannot be read now. */
const landedNow = async (all: readonly Template[], caller: Caller, ports: Ports): Promise<Landed | undefined> => {
  try {
    const needs = all.flatMap(({ panels }) => needsOf(panels));
    return await landedOf(readingOf(caller, ports), needs);
  } catch (error) {
    ports.log.warn({ error: String(error) }, 'what has landed for templates cannot be read');
    return undefined;
  }
};

/** Where a template stands in the gallery of an organization, for one who asks. */
export interface Placed extends TemplateStatus {
  readonly isFavourite: boolean;
  readonly place: number;
}

/** All templates in their order. */
export const gallery = async (caller: Caller, ports: Ports): Promise<Placed[]> => {
  const all = await templates();
  const own = ports.documents.of(caller.tenantId);
  const made = new Map<string, number>();
  const marks = new Map<string, number>();
  const mine = new Set<string>();
  const count = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1);
  const landed = await landedNow(all, caller, ports);
  for await (const { templateId } of documentsIn(own.collection(templateUses))) count(made, templateId);
  for await (const { templateId, userId } of documentsIn(own.collection(templateFavourites))) {
    count(marks, templateId);
    if (userId === caller.actor.id) mine.add(templateId);
  }
  const entries = all.map((template): TemplateStatus => {
    const panels = landed && fitOf(template.panels, landed);
    return { template, panels, dashboards: made.get(template.id) ?? 0, favourites: marks.get(template.id) ?? 0 };
  });
  return ranked(entries).map((entry, index) => ({
    ...entry,
    isFavourite: mine.has(entry.template.id),
    place: index + 1,
  }));
};

/** What lists tell of a template, with each figure that its place comes of. */
export const Item = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  templateVersion: z.string().describe('Another one for each change of what it says'),
  sentBy: z.array(z.string()).describe('What sends the telemetry that it shows'),
  place: z.int().positive().describe('In the order: by share, then made, then favourites'),
  share: z
    .number()
    .nullable()
    .describe(`Share of its panels whose names landed in the last ${landedHours} hours, 0 to 1; null: not known now`),
  filled: z.int().nullable().describe('Panels that would show something; null: not known now'),
  panels: z.int().describe('Panels that ask something'),
  dashboards: z.int().describe('Dashboards that this organization made of it'),
  favourites: z.int().describe('People of this organization who have marked it'),
  isFavourite: z.boolean().describe('Whether the one who asks has marked it'),
});

export const itemOf = (placed: Placed): z.input<typeof Item> => {
  const { template, place, dashboards, favourites, isFavourite } = placed;
  const { id, version, sentBy, document, panels } = template;
  return {
    id,
    name: document.name,
    description: document.description,
    tags: document.tags,
    templateVersion: version,
    sentBy: [...sentBy],
    place,
    dashboards,
    favourites,
    isFavourite,
    share: shareOf(placed) ?? null,
    filled: filledOf(placed) ?? null,
    panels: panels.length,
  };
};
