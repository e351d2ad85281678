import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { listSortValues, sortDescription } from '../../../queries/sort.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { licenseKeys } from '../../../schemas/resources/license-key.ts';
import { Application, type BrowserKey, readApplications } from '../../../subjects/rum/applications.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { getPage, listFields, parseListRange } from './lists.ts';

const cursorKind = 'rum-applications';
const maxKeys = 10_000;

const readBrowserKeys = async (
  documents: TenantDocuments,
  projectId: string | undefined,
  nowMs: number,
): Promise<BrowserKey[]> => {
  const filter = projectId === undefined ? { kind: 'browser' } : { kind: 'browser', projectId };
  const { items } = await documents.collection(licenseKeys).list({ filter, limit: maxKeys });
  return items.flatMap(({ id, application, revokedAt, expiresAt }) =>
    application === null
      ? []
      : [{ id, application, isActive: revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > nowMs) }],
  );
};

export const listRumApplications = defineOperation({
  method: 'GET',
  path: '/api/rum/applications',
  operationId: 'listRumApplications',
  summary: 'List applications with browser sessions or keys, their releases, SDKs and refused requests; in whole hours',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...projectScopeParameters,
    sort: z
      .enum(listSortValues(['name', 'sessions', 'errors', 'lastEventAt']))
      .default('-sessions')
      .describe(sortDescription),
  }),
  response: z.strictObject({ ...listFields, items: z.array(Application) }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { range, after } = parseListRange(cursorKind, query, reader);
    const projectId = query.scope === 'account' ? undefined : query.projectId;
    const keys = await readBrowserKeys(ports.documents.forTenant(caller.tenantId), projectId, reader.nowMs);
    const applications = await readApplications(reader, range, { scope: query, keys });
    return getPage(applications, {
      kind: cursorKind,
      range,
      sort: query.sort,
      limit: query.limit,
      after,
      getName: ({ name }) => name,
      getSortValue: (application, by) => application[by as 'name' | 'sessions' | 'errors' | 'lastEventAt'],
    });
  },
});
