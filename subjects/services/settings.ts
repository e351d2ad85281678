/** How services are judged, as the organization set it. */
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { ServiceSettings, serviceSettings, serviceSettingsId } from '../../schemas/resources/apdex-settings.ts';

/** The stored settings, defaults where there are none. */
export const serviceSettingsOf = async (documents: TenantDocuments): Promise<ServiceSettings> => {
  const stored = await documents.collection(serviceSettings).find(serviceSettingsId);
  return ServiceSettings.strip().parse(stored ?? {});
};
