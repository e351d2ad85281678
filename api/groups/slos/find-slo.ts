import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import type { IdentifiedSlo } from '../../../subjects/slos/document.ts';
import { parseStoredSlo } from '../../../subjects/slos/parse-slo.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, createNotFoundError } from '../../errors.ts';
import type { Ports } from '../../kernel/ports.ts';
import { type SloDocument, sloResource } from './slo.ts';

/** Returns an SLO with its creation, and where it was imported from. Throws if it does not exist, or if this version cannot parse it. */
export const findSlo = async (
  id: string,
  caller: Caller,
  { documents }: Ports,
): Promise<IdentifiedSlo & Pick<SloDocument & StoredMetadata, 'importedFrom' | 'createdAt'>> => {
  const document = await documents.forTenant(caller.tenantId).collection(sloResource.collection).find(id);
  if (document === undefined) throw createNotFoundError('service level objective');
  const slo = parseStoredSlo(document);
  if (slo === undefined)
    throw new ApiError('CONFLICT', `the format of this SLO, version ${document.queryVersion}, is not supported`);
  return { id, slo, importedFrom: document.importedFrom, createdAt: document.createdAt };
};
