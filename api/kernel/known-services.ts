/** Rejects reads of an unknown service with the names of similar ones. */
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { isService } from '../../subjects/services/detail.ts';
import { findSimilarServices } from '../../subjects/services/similar-names.ts';
import { ApiError } from '../errors.ts';

/** Throws 404 for a service without any data in the scope. */
export const requireKnownService = async (
  reader: TenantReader,
  filter: Parameters<typeof isService>[1],
): Promise<void> => {
  if (await isService(reader, filter)) return;
  const names = await findSimilarServices(reader, filter.service);
  const hint = names.length === 0 ? '' : `; similar names: ${names.join(', ')}`;
  throw new ApiError('NOT_FOUND', `the service does not exist in this organization${hint}`);
};
