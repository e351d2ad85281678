import { getFields } from '../../../runtime/stored-fields.ts';
import { type Project, ProjectNotifications } from '../../../schemas/resources/project.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { formatEtag } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { projectResource } from './resource.ts';

const path = '/api/projects/{id}/notifications';
const response = ProjectNotifications.meta({
  description: 'The ETag is that of the project',
});

const getNotifications = ({ notifications }: Partial<Project>): ProjectNotifications =>
  notifications ?? ProjectNotifications.parse({});

export const showNotifications = defineOperation({
  method: 'GET',
  path,
  operationId: 'getProjectNotifications',
  summary: 'Get who receives mail about a project’s events',
  role: 'viewer',
  versions: 'read',
  params: idParameter,
  response,
  async handler({ caller, params, request }, { documents }) {
    const project = await documents.forTenant(caller.tenantId).collection(projectResource.collection).find(params.id);
    if (project === undefined) throw createNotFoundError('project');
    request.reply('ETag', formatEtag(project));
    return getNotifications(project);
  },
});

export const setNotifications = defineOperation({
  method: 'PUT',
  path,
  operationId: 'setProjectNotifications',
  summary: 'Set who receives mail about a project’s events; omitted fields are reset to their default',
  role: 'editor',
  audit: 'project.set-notifications',
  versions: 'write',
  params: idParameter,
  body: ProjectNotifications,
  response,
  async handler(input) {
    const { recipients, events, ...rest } = input.body;
    const notifications: ProjectNotifications = {
      ...rest,
      recipients: [...new Set(recipients.map((address) => address.toLowerCase()))],
      events: [...new Set(events)],
    };
    const withNotifications = async (before: Parameters<typeof getFields<Project>>[0]) => ({
      ...getFields(before),
      notifications,
    });
    const project = await projectResource.change(input.params.id, withNotifications, input);
    input.request.reply('ETag', formatEtag(project));
    return getNotifications(project);
  },
});
