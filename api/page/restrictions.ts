import { roles } from '../../schemas/resources/user.ts';
import type { Restriction } from '../../web/index.ts';
import { type Access, satisfiesAccess } from '../callers/rights.ts';

/** Properties of an operation that determine who may call it. */
interface RestrictedOperation {
  readonly method: string;
  readonly path: string;
  readonly role: Access;
  readonly entitlement?: string | undefined;
  readonly hidden?: boolean | undefined;
}

/** Required permissions of calls, for the page. Calls that every signed-in user may make are omitted. */
export const listRestrictions = (operations: readonly RestrictedOperation[]): Restriction[] => {
  const restrictedCalls = operations
    .filter(({ hidden }) => hidden !== true)
    .map(({ method, path, role, entitlement }) => ({
      call: `${method} ${path}`,
      roles: roles.filter((userRole) => satisfiesAccess(userRole, role)),
      ...(entitlement === undefined ? {} : { entitlement }),
    }))
    .filter((each) => each.entitlement !== undefined || each.roles.length < roles.length);
  return [
    ...Map.groupBy(restrictedCalls, ({ roles, entitlement = '' }) => `${roles.join()} ${entitlement}`).values(),
  ].flatMap((callsOfGroup) => {
    const [first] = callsOfGroup;
    if (first === undefined) return [];
    const { call: _, ...requirements } = first;
    return [{ ...requirements, calls: callsOfGroup.map(({ call }) => call) }];
  });
};
