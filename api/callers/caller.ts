import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { AuditRecord } from '../../schemas/resources/audit-record.ts';
import type { Organization } from '../../schemas/resources/organization.ts';
import type { Plan } from '../../schemas/resources/plan.ts';
import type { Role, User } from '../../schemas/resources/user.ts';
import { ApiError } from '../errors.ts';

/** Actor of a change as recorded in the audit log. */
export interface Actor {
  readonly type: AuditRecord['actor']['type'];
  readonly id: string;
  readonly name: string;
}

/**
 * Fields of every caller. They are read from memory for each request, so that changed permissions take effect
 * immediately.
 */
interface AnyCaller {
  readonly tenantId: string;
  /** Actor as recorded in the audit log */
  readonly actor: Actor;
  readonly role: Role;
  readonly organization: Organization & StoredMetadata;
  readonly plan: Plan;
  /** Scopes for reads of telemetry in the current operation. Absent for a person. */
  readonly readScopes?: readonly string[] | undefined;
}

/** A user who signed in. */
export interface UserCaller extends AnyCaller {
  readonly kind: 'person';
  readonly userId: string;
  readonly sessionId: string;
  /** End of the session unless it is refreshed */
  readonly sessionExpiresAt: string;
  readonly user: User & StoredMetadata;
  /**
   * Organization whose identity provider opened the session: the session has no access to the user's other
   * organizations.
   */
  readonly identityProviderTenantId: string | undefined;
  /** Absent: the permissions of a person are determined by the role alone. */
  readonly scopes?: undefined;
}

/** A program with an API token. */
export interface ServiceAccountCaller extends AnyCaller {
  readonly kind: 'service-account';
  readonly serviceAccountId: string;
  readonly tokenId: string;
  /** `<group>:read` and `<group>:write`: the subset of the account role's permissions that the token has. */
  readonly scopes: readonly string[];
}

/** The caller of a request, with its permissions. */
export type Caller = UserCaller | ServiceAccountCaller;

/**
 * Returns the person who sent the request; throws 403 for an API token. Operations with access `session` accept persons
 * only, so there it never throws.
 */
export const requireUser = (caller: Caller): UserCaller => {
  if (caller.kind === 'person') return caller;
  throw new ApiError('FORBIDDEN', 'this needs a user who signed in; an API token cannot do it');
};
