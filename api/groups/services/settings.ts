import { ServiceSettings, serviceSettings, serviceSettingsId } from '../../../schemas/resources/apdex-settings.ts';
import { readServiceSettings } from '../../../subjects/services/settings.ts';
import { hasSameFields } from '../../changes.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const getServiceSettings = defineOperation({
  method: 'GET',
  path: '/api/service-settings',
  operationId: 'getServiceSettings',
  summary: 'Get the Apdex thresholds: the default and those of individual services',
  role: 'viewer',
  response: ServiceSettings,
  handler: ({ caller }, { documents }) => readServiceSettings(documents.forTenant(caller.tenantId)),
});

export const putServiceSettings = defineOperation({
  method: 'PUT',
  path: '/api/service-settings',
  operationId: 'setServiceSettings',
  summary: 'Set the Apdex thresholds of services; omitted fields are reset to their defaults',
  role: 'editor',
  audit: 'service-settings.update',
  body: ServiceSettings,
  response: ServiceSettings,
  async handler({ caller, body, change }) {
    const names = body.services.map(({ service }) => service);
    const duplicateIndex = names.findIndex((name, index) => names.indexOf(name) !== index);
    if (duplicateIndex >= 0) throw createFieldError(`services.${duplicateIndex}.service`, 'appears twice in the list');
    await change(async ({ forTenant, record, markUnchanged }) => {
      const documents = forTenant(caller.tenantId);
      const before = await readServiceSettings(documents);
      if (hasSameFields(before, body)) {
        markUnchanged();
        return;
      }
      const settingsCollection = documents.collection(serviceSettings);
      if ((await settingsCollection.find(serviceSettingsId)) === undefined)
        await settingsCollection.insert({ id: serviceSettingsId, ...body });
      else await settingsCollection.replace(serviceSettingsId, body);
      record({ id: serviceSettingsId, before, after: body });
    });
    return body;
  },
});
