import { ServiceSettings, serviceSettings, serviceSettingsId } from '../../../schemas/resources/apdex-settings.ts';
import { readServiceSettings } from '../../../subjects/services/settings.ts';
import { hasAlready } from '../../changes.ts';
import { fieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const getServiceSettings = defineOperation({
  method: 'GET',
  path: '/api/service-settings',
  operationId: 'getServiceSettings',
  summary: 'Get the rating settings of services: the Apdex threshold, for all and for individual services',
  role: 'viewer',
  response: ServiceSettings,
  handler: ({ caller }, { documents }) => readServiceSettings(documents.forTenant(caller.tenantId)),
});

export const putServiceSettings = defineOperation({
  method: 'PUT',
  path: '/api/service-settings',
  operationId: 'setServiceSettings',
  summary: 'Set the rating settings of services; omitted fields are reset to their default',
  role: 'editor',
  audit: 'service-settings.update',
  body: ServiceSettings,
  response: ServiceSettings,
  async handler({ caller, body, change }) {
    const names = body.services.map(({ service }) => service);
    const duplicateIndex = names.findIndex((name, index) => names.indexOf(name) !== index);
    if (duplicateIndex >= 0) throw fieldError(`services.${duplicateIndex}.service`, 'appears twice in the list');
    await change(async ({ forTenant, record, unchanged }) => {
      const documents = forTenant(caller.tenantId);
      const before = await readServiceSettings(documents);
      if (hasAlready(before, body)) {
        unchanged();
        return;
      }
      const stored = documents.collection(serviceSettings);
      if ((await stored.find(serviceSettingsId)) === undefined) await stored.insert({ id: serviceSettingsId, ...body });
      else await stored.replace(serviceSettingsId, body);
      record({ id: serviceSettingsId, before, after: body });
    });
    return body;
  },
});
