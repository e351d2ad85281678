import { roles } from '../../schemas/resources/user.ts';
import type { Restriction } from '../../web/index.ts';
import { type Access, mayCall } from '../callers/rights.ts';

/** Properties of an operation that determine who may call it. */
interface Restricted {
  readonly method: string;
  readonly path: string;
  readonly role: Access;
  readonly entitlement?: string | undefined;
  readonly hidden?: boolean | undefined;
}

/** Required permissions of calls, for the page. Calls that every signed-in user may make are omitted. */
export const restrictionsOf = (operations: readonly Restricted[]): Restriction[] => {
  const known = operations
    .filter(({ hidden }) => hidden !== true)
    .map(({ method, path, role, entitlement }) => ({
      call: `${method} ${path}`,
      roles: roles.filter((each) => mayCall(each, role)),
      ...(entitlement === undefined ? {} : { entitlement }),
    }))
    .filter((each) => each.entitlement !== undefined || each.roles.length < roles.length);
  return [...Map.groupBy(known, ({ roles, entitlement = '' }) => `${roles.join()} ${entitlement}`).values()].flatMap(
    (alike) => {
      const [first] = alike;
      if (first === undefined) return [];
      const { call: _, ...who } = first;
      return [{ ...who, calls: alike.map(({ call }) => call) }];
    },
  );
};
