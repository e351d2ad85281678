/** The call restrictions in the page equal those that the API enforces. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { satisfiesAccess } from '../../api/callers/rights.ts';
import { operations } from '../../api/groups/index.ts';
import { listRestrictions } from '../../api/page/restrictions.ts';
import { roles } from '../../schemas/resources/user.ts';

const restrictions = listRestrictions(operations);
const byCall = new Map(restrictions.flatMap((one) => one.calls.map((call) => [call, one] as const)));

for (const role of roles)
  test(`the page offers the role ${role} exactly the calls that the API permits`, (t) => {
    for (const { method, path, role: access, hidden } of operations) {
      if (hidden === true) continue;
      const restriction = byCall.get(`${method} ${path}`);
      t.is(restriction?.roles.includes(role) ?? true, satisfiesAccess(role, access), `${method} ${path}`);
    }
  });

test('each call lists the entitlement that the plan must include', (t) => {
  for (const { method, path, entitlement, hidden } of operations)
    if (hidden !== true) t.is(byCall.get(`${method} ${path}`)?.entitlement, entitlement, `${method} ${path}`);
});

test('calls with equal restrictions are grouped, and unrestricted calls are omitted', (t) => {
  const calls = restrictions.flatMap((one) => one.calls);
  t.is(new Set(calls).size, calls.length);
  t.false(calls.includes('GET /api/alerts'));
  const kinds = restrictions.map(({ roles: may, entitlement }) => JSON.stringify([may, entitlement]));
  t.is(new Set(kinds).size, kinds.length);
});
