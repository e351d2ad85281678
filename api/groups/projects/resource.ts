import { z } from 'zod';
import { type Project, ProjectFields, projects } from '../../../schemas/resources/project.ts';
import { defineResource } from '../../resources/resource.ts';
import { storedView } from '../../resources/resource-spec.ts';

const View = z.strictObject({
  ...ProjectFields.shape,
  ingestKeyId: z.string().nullable().describe('Id of the license key that rotate-key rotates'),
  ...storedView,
});

export const projectResource = defineResource<typeof ProjectFields, Project, typeof View>({
  noun: 'project',
  path: '/api/projects',
  collection: projects,
  verbs: ['list', 'create', 'read', 'patch', 'delete'],
  roles: { read: 'viewer', write: 'editor', delete: 'admin' },
  fields: ProjectFields,
  example: { name: 'Shop', description: 'The web shop and its backends' },
  view: View,
  show: (documents) =>
    documents.map((project) => ({
      name: project.name,
      description: project.description ?? '',
      ...(project.browserPrivacy !== undefined && { browserPrivacy: project.browserPrivacy }),
      ...(project.secrets !== undefined && { secrets: project.secrets }),
      ingestKeyId: project.ingestKeyId ?? null,
      id: project.id,
      version: project.version,
      createdAt: project.createdAt,
      updatedAt: project.updatedAt,
    })),
  list: { searched: ['name', 'description'] },
});
