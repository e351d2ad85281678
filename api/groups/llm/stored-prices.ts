import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type LlmPrice, llmPrices } from '../../../schemas/resources/llm-price.ts';

/** Maximum number of prices of an organization: every read of costs reads all of them. */
export const maxPrices = 1_000;

/** Returns the prices of an organization. */
export const readStoredPrices = async (
  documents: Pick<Documents, 'forTenant'>,
  tenantId: string,
): Promise<readonly (LlmPrice & StoredMetadata)[]> =>
  (await documents.forTenant(tenantId).collection(llmPrices).list({ limit: maxPrices })).items;
