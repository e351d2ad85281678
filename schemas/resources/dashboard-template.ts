import { defineCollection } from '../ports/documents.ts';

/** That a dashboard was made of a template. The id is the dashboard's; it stays when the dashboard goes, and counts. */
export interface TemplateUse {
  readonly templateId: string;
  /** Of the template, when the dashboard was made. */
  readonly templateVersion: string;
  /** Whether the dashboard is gone: another one that has its id was not made of the template. */
  readonly isGone?: true;
}
export const templateUses = defineCollection<TemplateUse>({ name: 'template-uses', indexes: [['templateId']] });

/** What a template said in a version that dashboards were made of. The id is the template's and the version. */
export interface TemplateOriginal {
  readonly document: object;
  readonly documentVersion: number;
  readonly queryVersion: number;
}
export const templateOriginals = defineCollection<TemplateOriginal>({ name: 'template-originals' });

/** That a person has marked a template. */
export interface TemplateFavourite {
  readonly templateId: string;
  readonly userId: string;
}
export const templateFavourites = defineCollection<TemplateFavourite>({
  name: 'template-favourites',
  unique: [['userId', 'templateId']],
});
