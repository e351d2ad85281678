/** Operations declared by the API documents, and the one that a request matches. */
import { operations } from '../../api/groups/index.ts';
import { createRouter } from '../../api/kernel/router.ts';
import { liveTail } from '../../api/streams/live-tail.ts';
import type { Declared } from '../page-requests.ts';

/** Operations of the OpenAPI document, and streams of the AsyncAPI document. */
const documented: readonly (Declared & { readonly built: boolean })[] = [
  ...operations.filter(({ hidden }) => !hidden),
  { ...liveTail, group: 'logs', method: 'GET', built: true },
];

const router = createRouter<string>();
for (const { method, path, operationId } of documented) router.add(method, path, operationId);

/** Operations that are implemented. */
export const built: readonly Declared[] = documented.filter((each) => each.built);

/** The operation ID of a request such as `GET /api/logs`; undefined if no document declares it. */
export const declaredAs = (requestLine: string): string | undefined => {
  const [method = '', path = ''] = requestLine.split(' ');
  return router.find(method, path)?.route;
};
