import { templateFavourites, templateOriginals, templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { defineGroup } from '../define-group.ts';
import { markTemplate, unmarkTemplate } from './favourite.ts';
import { instantiateTemplate } from './instantiate.ts';
import { listTemplates } from './list.ts';
import { getTemplate } from './read.ts';
import { getTemplateUsage } from './usage.ts';

export const templatesGroup = defineGroup({
  name: 'templates',
  summary: 'The gallery of dashboard templates.',
  operations: [listTemplates, getTemplateUsage, getTemplate, instantiateTemplate, markTemplate, unmarkTemplate],
  collections: [templateUses, templateOriginals, templateFavourites],
});
