/**
 * Calls an operation from within another one, as its caller: with the same checks, the same audit records, and without
 * a network request.
 */
import { transactFor } from '../changes.ts';
import { ApiError } from '../errors.ts';
import { refuseLowRights } from './admission.ts';
import type { Operation } from './operation.ts';
import type { Call } from './ports.ts';
import { makeRouter } from './router.ts';

export const callOf = (operations: readonly Operation[]): Call => {
  const router = makeRouter<Operation>();
  for (const operation of operations) router.add(operation.method, operation.path, operation);
  return async ({ method, path, headers = {}, body }, { caller, request, signal }, ports) => {
    const found = router.find(method, path);
    if (found?.route === undefined) throw new ApiError('NOT_FOUND', `there is nothing at ${method} ${path}`);
    const { route: operation, params } = found;
    refuseLowRights(caller, operation);
    const own = { ...request, header: (name: string) => headers[name] ?? '', reply: () => {}, redirect: () => {} };
    const change = transactFor(ports, { caller, actions: operation.audit, request });
    const answer = await operation.run({ caller, params, query: {}, body, request: own, signal, change }, ports);
    return JSON.parse(JSON.stringify(answer ?? {}));
  };
};
