import { defineCollection } from '../ports/documents.ts';

/**
 * Records that a dashboard was created from a template. The ID is that of the dashboard. The record remains after the
 * dashboard is deleted, and counts as a use.
 */
export interface TemplateUse {
  readonly templateId: string;
  /** Version of the template when the dashboard was created. */
  readonly templateVersion: string;
  /** Whether the dashboard was deleted. A new dashboard with the same ID is not based on the template. */
  readonly isGone?: true;
}
export const templateUses = defineCollection<TemplateUse>({ name: 'template-uses', indexes: [['templateId']] });

/**
 * Content of a template version from which dashboards were created. The ID consists of the template's ID and the
 * version.
 */
export interface TemplateOriginal {
  readonly document: object;
  readonly documentVersion: number;
  readonly queryVersion: number;
}
export const templateOriginals = defineCollection<TemplateOriginal>({ name: 'template-originals' });

/** Records that a user marked a template as a favorite. */
export interface TemplateFavourite {
  readonly templateId: string;
  readonly userId: string;
}
export const templateFavourites = defineCollection<TemplateFavourite>({
  name: 'template-favourites',
  unique: [['userId', 'templateId']],
});
