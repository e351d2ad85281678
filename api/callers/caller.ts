import type { Stored } from '../../schemas/ports/documents.ts';
import type { AuditRecord } from '../../schemas/resources/audit-record.ts';
import type { Organization } from '../../schemas/resources/organization.ts';
import type { Plan } from '../../schemas/resources/plan.ts';
import type { Role, User } from '../../schemas/resources/user.ts';
import { ApiError } from '../errors.ts';

/** The actor of a change, as the audit log names it. */
export interface Who {
  readonly type: AuditRecord['actor']['type'];
  readonly id: string;
  readonly name: string;
}

/** Fields of every caller. Built from memory for each request, so that a changed right counts at once. */
interface AnyCaller {
  readonly tenantId: string;
  /** As the audit log names them. */
  readonly actor: Who;
  readonly role: Role;
  readonly organization: Organization & Stored;
  readonly plan: Plan;
}

/** A user who signed in. */
export interface PersonCaller extends AnyCaller {
  readonly kind: 'person';
  readonly userId: string;
  readonly sessionId: string;
  /** When the session ends unless it is refreshed. */
  readonly sessionExpiresAt: string;
  readonly user: User & Stored;
  /** The organization whose identity provider opened the session: it reaches nothing of the user's other ones. */
  readonly provedBy: string | undefined;
  /** A person's rights are those of the role. */
  readonly scopes?: undefined;
}

/** A program with an API token. */
export interface ServiceAccountCaller extends AnyCaller {
  readonly kind: 'service-account';
  readonly serviceAccountId: string;
  readonly tokenId: string;
  /** `<group>:read` and `<group>:write`: what the token may do of what the account's role may. */
  readonly scopes: readonly string[];
}

/** The caller of a request, with its rights. */
export type Caller = PersonCaller | ServiceAccountCaller;

/** The person who asks; 403 for an API token. Operations with access `session` have persons only, so there it never throws. */
export const personOf = (caller: Caller): PersonCaller => {
  if (caller.kind === 'person') return caller;
  throw new ApiError('FORBIDDEN', 'this needs a user who signed in; an API token cannot do it');
};
