import type { KnownSlo } from '../../../subjects/slos/document.ts';
import { readSlo } from '../../../subjects/slos/stored.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, notFound } from '../../errors.ts';
import type { Ports } from '../../kernel/ports.ts';
import { sloResource } from './slo.ts';

/** Returns an SLO as it is measured. Throws if it does not exist, or if this version cannot parse it. */
export const findSlo = async (id: string, caller: Caller, { documents }: Ports): Promise<KnownSlo> => {
  const document = await documents.forTenant(caller.tenantId).collection(sloResource.collection).find(id);
  if (document === undefined) throw notFound('service level objective');
  const slo = readSlo(document);
  if (slo === undefined)
    throw new ApiError('CONFLICT', `the format of this SLO, version ${document.queryVersion}, is not supported`);
  return { id, slo };
};
