/** Evaluation settings of services, as configured by the organization */
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { ServiceSettings, serviceSettings, serviceSettingsId } from '../../schemas/resources/apdex-settings.ts';

/** Returns the stored settings, or defaults. */
export const readServiceSettings = async (documents: TenantDocuments): Promise<ServiceSettings> => {
  const stored = await documents.collection(serviceSettings).find(serviceSettingsId);
  return ServiceSettings.strip().parse(stored ?? {});
};
