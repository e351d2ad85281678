import { ServiceSettings, serviceSettings, serviceSettingsId } from '../../../schemas/resources/apdex-settings.ts';
import { serviceSettingsOf } from '../../../subjects/services/settings.ts';
import { hasAlready } from '../../changes.ts';
import { invalid } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const getServiceSettings = defineOperation({
  method: 'GET',
  path: '/api/service-settings',
  operationId: 'getServiceSettings',
  summary: 'Get the rating settings of services: the Apdex threshold, for all and for individual services',
  role: 'viewer',
  response: ServiceSettings,
  handler: ({ caller }, { documents }) => serviceSettingsOf(documents.of(caller.tenantId)),
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
    const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
    if (twice >= 0) throw invalid(`services.${twice}.service`, 'appears twice in the list');
    await change(async ({ of, record, unchanged }) => {
      const documents = of(caller.tenantId);
      const before = await serviceSettingsOf(documents);
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
