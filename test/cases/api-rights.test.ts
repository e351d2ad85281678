/** Which roles a caller can grant. */
import test from 'ava';
import { canGrantRole, type Granter, requireGrantableRoles, requireRoleNotAbove } from '../../api/callers/rights.ts';
import { type Role, roles } from '../../schemas/resources/user.ts';

const grantable: Readonly<Record<Granter['kind'], Readonly<Record<Role, readonly Role[]>>>> = {
  person: {
    viewer: ['viewer'],
    editor: ['viewer', 'editor'],
    admin: ['viewer', 'editor', 'admin', 'auditor'],
    owner: ['viewer', 'editor', 'admin', 'owner', 'auditor'],
    auditor: [],
  },
  'service-account': {
    viewer: ['viewer'],
    editor: ['viewer', 'editor'],
    admin: ['viewer', 'editor', 'auditor'],
    owner: ['viewer', 'editor', 'auditor'],
    auditor: [],
  },
};

for (const kind of ['person', 'service-account'] as const)
  for (const role of roles)
    test(`a ${kind} with the role ${role} can grant ${grantable[kind][role].join(', ') || 'no role'}`, (t) => {
      t.deepEqual(
        roles.filter((input) => canGrantRole({ role, kind }, input)),
        grantable[kind][role],
      );
    });

test('a change is rejected if the current or the new role of a member is out of reach', (t) => {
  const admin: Granter = { role: 'admin', kind: 'person' };
  t.notThrows(() => requireGrantableRoles(admin, 'admin', 'viewer'));
  for (const [from, to] of [
    ['owner', 'viewer'],
    ['viewer', 'owner'],
  ] as const) {
    const error = t.throws(() => requireGrantableRoles(admin, from, to));
    t.is((error as { code?: string }).code, 'FORBIDDEN');
    t.regex(error.message, /the role owner/);
  }
  t.notThrows(() => requireGrantableRoles(admin, 'viewer', undefined));
});

test('a token account can have the Admin role, but never a role above its own', (t) => {
  t.notThrows(() => requireRoleNotAbove({ role: 'admin', kind: 'service-account' }, 'admin'));
  t.throws(() => requireRoleNotAbove({ role: 'editor', kind: 'service-account' }, 'admin'));
});
