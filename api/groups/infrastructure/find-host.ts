/** Path parameters that identify a host */
import { z } from 'zod';
import type { ProjectScope } from '../../../queries/project-scope.ts';
import type { Range } from '../../../queries/range.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { type Host, readHosts } from '../../../subjects/infrastructure/hosts.ts';
import { createFieldError, createNotFoundError } from '../../errors.ts';

export const hostParams = z.strictObject({
  id: z.string().min(1).max(512).describe('Its id, or its unique name'),
});

/** Finds a host by its id, or by a unique name. */
export const findHost = async (
  reader: TenantReader,
  { range, scope, idOrName }: { readonly range: Range; readonly scope: ProjectScope; readonly idOrName: string },
): Promise<Host> => {
  const { items } = await readHosts(reader, range, scope, idOrName);
  const [host] = items;
  if (host === undefined) throw createNotFoundError('host');
  if (items.length === 1) return host;
  const ids = items
    .map(({ id }) => id)
    .sort()
    .slice(0, 5);
  throw createFieldError('id', `${items.length} hosts are named ${idOrName}: request one by its id, ${ids.join(', ')}`);
};
