import { z } from 'zod';
import { type Role, roles } from '../../../schemas/resources/user.ts';
import { canGrantRole, satisfiesAccess } from '../../callers/rights.ts';
import { listMissingScopes } from '../../callers/scopes.ts';
import { defineOperation } from '../../kernel/operation.ts';

const summaries: Readonly<Record<Role, string>> = {
  viewer: 'Reads telemetry, dashboards and configuration',
  editor: 'As Viewer; creates and changes dashboards, alerts, checks and other configuration',
  admin: 'As Editor; manages users, license keys, service accounts, projects and billing, and reads the audit log',
  owner: 'As Admin; manages other Owners and can close the organization',
  auditor: 'Reads what a Viewer reads, and the audit log; changes nothing',
};

export const listRoles = defineOperation({
  method: 'GET',
  path: '/api/roles',
  operationId: 'listRoles',
  summary: 'List the roles, their permissions, and those that the caller may grant',
  role: 'viewer',
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.enum(roles),
        summary: z.string(),
        includes: z.array(z.enum(roles)).describe('Roles whose operations this role may call'),
        grantable: z.boolean().describe('Whether the caller may grant it'),
      }),
    ),
    nextCursor: z.null(),
  }),
  handler: ({ caller }, { scopes }) => ({
    items: roles.map((id) => ({
      id,
      summary: summaries[id],
      includes: roles.filter((other) => satisfiesAccess(id, other)),
      grantable:
        satisfiesAccess(caller.role, 'admin') &&
        canGrantRole(caller, id) &&
        listMissingScopes(id, caller, scopes).length === 0,
    })),
    nextCursor: null,
  }),
});
