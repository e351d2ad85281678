import { randomUUID } from 'node:crypto';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Identity, identities, identitiesTenant } from '../../../schemas/resources/identity.ts';
import type { IdentityProvider, MappedRole } from '../../../schemas/resources/identity-provider.ts';
import { type Membership, memberships, type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import type { AuditedTransaction, Transact } from '../../changes.ts';
import { ApiError } from '../../errors.ts';
import { createSignInChangedMail } from '../accounts/account-mails.ts';
import { EmailAddress } from '../accounts/names.ts';
import type { IdentityPorts } from '../ports.ts';
import { extractDomain, isDomainVerified } from './domains.ts';
import type { Claims } from './provider.ts';

/** Actions that an admission may record; its operation declares them. */
export const admissionActions = ['user.provision', 'user.update', 'identity.link', 'session.refuse'] as const;

interface AdmissionContext {
  readonly tenantId: string;
  readonly provider: IdentityProvider;
  readonly claims: Claims;
  readonly change: Transact;
}

/** Existing objects of the organization for the person who signs in. */
interface ExistingObjects {
  readonly user: (User & StoredMetadata) | undefined;
  readonly identity: (Identity & StoredMetadata) | undefined;
  readonly membership: (Membership & StoredMetadata) | undefined;
}

/** Result of the role mapping: a role, none (`null`), or `undefined` without a mapping. */
type RoleMappingResult = MappedRole | null | undefined;

const forbidden = (message: string): ApiError => new ApiError('FORBIDDEN', message);

/** Returns the role for the provider's claims, `null` for none; `undefined` without a mapping. */
export const mapRole = (
  { roleMapping, defaultRole }: Pick<IdentityProvider, 'roleMapping' | 'defaultRole'>,
  claims: Readonly<Record<string, unknown>>,
): RoleMappingResult => {
  if (roleMapping === null) return undefined;
  const values = [Object.hasOwn(claims, roleMapping.claim) ? claims[roleMapping.claim] : []].flat();
  return roleMapping.roles.find(({ value }) => values.includes(value))?.role ?? defaultRole;
};

/**
 * Returns the user of the claims as a member of the provider's organization: found by issuer and subject, or admitted
 * if the address is in a verified domain. Applies the role mapping; an Owner stays Owner.
 */
export const admitUser = async (admitting: AdmissionContext, ports: IdentityPorts): Promise<User & StoredMetadata> => {
  const { tenantId, provider, claims, change } = admitting;
  const before = await findExisting(admitting, ports.documents);
  const refuse = (message: string): ApiError => {
    const { user } = before;
    if (user !== undefined) ports.signInFailures.recordRefusal({ email: user.email, user, tenantId, change });
    return forbidden(message);
  };
  if (before.identity !== undefined && (before.user === undefined || before.user.disabled))
    throw refuse('this user is disabled or deleted');
  if (before.membership?.disabled) throw refuse('this user is disabled in the organization');
  const role = mapRole(provider, claims);
  if (role === null && before.membership?.role !== 'owner')
    throw refuse('none of the groups at the identity provider has a role in this organization');
  if (before.user !== undefined && before.membership !== undefined && !isOtherRole(before.membership, role))
    return before.user;
  if (before.membership === undefined) await requireVerifiedDomain(admitting, ports);
  return change((scope) => createAndAssign(scope, admitting, role));
};

/** Whether the mapping assigns another role. The role Owner is never changed by a mapping. */
const isOtherRole = ({ role }: Membership, mapped: RoleMappingResult): mapped is MappedRole =>
  mapped !== undefined && mapped !== null && role !== 'owner' && role !== mapped;

const findExisting = async (
  { tenantId, claims }: AdmissionContext,
  documents: Pick<AuditedTransaction, 'forTenant'>,
): Promise<ExistingObjects> => {
  const known = await documents
    .forTenant(identitiesTenant)
    .collection(identities)
    .list({ filter: { issuer: claims.iss, subject: claims.sub }, limit: 1 });
  const identity = known.items[0];
  if (identity === undefined) return { user: undefined, identity, membership: undefined };
  return {
    identity,
    user: await documents.forTenant(usersTenant).collection(users).find(identity.userId),
    membership: await documents.forTenant(tenantId).collection(memberships).find(identity.userId),
  };
};

/** Within the change: creates missing objects, and sets the role. */
const createAndAssign = async (
  scope: AuditedTransaction,
  admitting: AdmissionContext,
  role: RoleMappingResult,
): Promise<User & StoredMetadata> => {
  const { tenantId, provider } = admitting;
  const found = await findExisting(admitting, scope);
  const members = scope.forTenant(tenantId).collection(memberships);
  if (found.user !== undefined && found.membership !== undefined) {
    const { user, membership } = found;
    // Another change set the same role in the meantime.
    if (!isOtherRole(membership, role)) throw new ApiError('CONFLICT', 'the user was changed meanwhile; sign in again');
    await members.update(user.id, { role }, membership.version);
    record(scope, admitting, { action: 'user.update', user, before: { role: membership.role }, after: { role } });
    return user;
  }
  const given = role ?? provider.defaultRole;
  if (given === null) throw forbidden('the identity provider is set up without a default role');
  const email = admittedEmail(admitting);
  const user = found.user ?? (await createUser(scope, admitting, email));
  await members.insert({ id: user.id, role: given });
  record(scope, admitting, { action: 'user.provision', user, after: { email, role: given, issuer: provider.issuer } });
  return user;
};

const record = (
  scope: AuditedTransaction,
  { tenantId }: AdmissionContext,
  { user, ...what }: { action: string; user: User & StoredMetadata; before?: object; after: object },
): void =>
  scope.record({
    ...what,
    tenantId,
    id: user.id,
    name: user.email,
    actor: { type: 'user', id: user.id, name: user.email },
  });

/** Returns the address if the provider is authorized for its domain. */
const admittedEmail = ({ provider, claims }: AdmissionContext): string => {
  const { success, data: email = '' } = EmailAddress.safeParse(claims['email']);
  if (!success) throw forbidden('the identity provider sent no e-mail address; request the scope "email" there');
  if (claims['email_verified'] !== true)
    throw forbidden(`the identity provider has not verified ${email}: an unverified address does not admit a user`);
  const domain = extractDomain(email);
  if (!provider.domains.some(({ name, provedAt }) => provedAt !== null && name === domain))
    throw forbidden(`the organization has not verified that ${domain ?? email} is its domain`);
  return email;
};

/** Throws unless the domain of a new user is verified at this moment, because the owner of a domain may have changed. */
const requireVerifiedDomain = async (
  admitting: AdmissionContext,
  { outbound, secretBox }: IdentityPorts,
): Promise<void> => {
  const domain = extractDomain(admittedEmail(admitting)) ?? '';
  const proved = await isDomainVerified({ outbound, box: secretBox }, admitting.tenantId, domain);
  if (proved === undefined)
    throw new ApiError('UNAVAILABLE', `the DNS record that proves ${domain} cannot be looked up now; try again later`);
  if (!proved) throw forbidden(`the DNS record that proved the organization’s ownership of ${domain} no longer exists`);
};

const createUser = async (
  scope: AuditedTransaction,
  { claims }: AdmissionContext,
  email: string,
): Promise<User & StoredMetadata> => {
  const people = scope.forTenant(usersTenant).collection(users);
  const same = await people.list({ filter: { email }, limit: 1 });
  if (same.items.length > 0)
    throw new ApiError(
      'CONFLICT',
      `the user ${email} already exists: sign in with the password, and link the identity provider from there`,
    );
  const name = typeof claims['name'] === 'string' ? claims['name'].replace(/\p{Cc}+/gu, ' ').slice(0, 256) : '';
  const user = await people.insert({ id: randomUUID(), email, name, passwordHash: null, disabled: false });
  await scope
    .forTenant(identitiesTenant)
    .collection(identities)
    .insert({ issuer: claims.iss, subject: claims.sub, userId: user.id });
  return user;
};

/** Links the identity to a signed-in user. */
export const linkIdentity = async (
  { tenantId, claims, change }: Omit<AdmissionContext, 'provider'>,
  user: User & StoredMetadata,
  { mail, settings }: Pick<IdentityPorts, 'mail' | 'settings'>,
): Promise<void> =>
  change(async (scope) => {
    const linked = scope.forTenant(identitiesTenant).collection(identities);
    const { items } = await linked.list({ filter: { issuer: claims.iss, subject: claims.sub }, limit: 1 });
    if (items[0] !== undefined && items[0].userId !== user.id)
      throw new ApiError('CONFLICT', 'this identity already belongs to another user');
    if (items[0] === undefined) await linked.insert({ issuer: claims.iss, subject: claims.sub, userId: user.id });
    const happened = `The identity provider ${claims.iss} was linked. It can now sign you in.`;
    await mail.enqueue(scope, createSignInChangedMail(settings, user.email, happened));
    scope.record({
      action: 'identity.link',
      tenantId,
      id: user.id,
      name: user.email,
      after: { issuer: claims.iss },
      actor: { type: 'user', id: user.id, name: user.email },
    });
  });
