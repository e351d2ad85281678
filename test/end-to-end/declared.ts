/** What the documents of the API declare, and which of it a request is. */
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

/** Those that work. */
export const built: readonly Declared[] = documented.filter((each) => each.built);

/** The id of what a request asks for, `GET /api/logs`; undefined for what no document has. */
export const declaredAs = (requestLine: string): string | undefined => {
  const [method = '', path = ''] = requestLine.split(' ');
  return router.find(method, path)?.route;
};
