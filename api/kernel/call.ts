/**
 * Calls an operation from within another one, as its caller: with the same checks, the same audit records, and without
 * a network request.
 */
import { createTransact } from '../changes.ts';
import { ApiError } from '../errors.ts';
import { authorizeCaller } from './admission.ts';
import type { Operation } from './operation.ts';
import type { CallOperation } from './ports.ts';
import { createRouter } from './router.ts';

export const createOperationCaller = (operations: readonly Operation[]): CallOperation => {
  const router = createRouter<Operation>();
  for (const operation of operations) router.add(operation.method, operation.path, operation);
  return async ({ method, path, headers = {}, query = {}, body }, { caller, request, signal }, ports) => {
    const match = router.find(method, path);
    if (match?.route === undefined) throw new ApiError('NOT_FOUND', `the operation ${method} ${path} does not exist`);
    const { route: operation, params } = match;
    const authorizedCaller = authorizeCaller(caller, operation);
    const innerRequest = {
      ...request,
      header: (name: string) => headers[name] ?? '',
      reply: () => {},
      redirect: () => {},
    };
    const change = createTransact(ports, { caller, actions: operation.audit, request });
    const result = await operation.run(
      { caller: authorizedCaller, params, query, body, request: innerRequest, signal, change },
      ports,
    );
    return JSON.parse(JSON.stringify(result ?? {}));
  };
};
