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

const createForbiddenError = (message: string): ApiError => new ApiError('FORBIDDEN', message);

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
export const admitUser = async (admission: AdmissionContext, ports: IdentityPorts): Promise<User & StoredMetadata> => {
  const { tenantId, provider, claims, change } = admission;
  const before = await findExisting(admission, ports.documents);
  const reject = (message: string): ApiError => {
    const { user } = before;
    if (user !== undefined) ports.signInFailures.recordRejection({ email: user.email, user, tenantId, change });
    return createForbiddenError(message);
  };
  if (before.identity !== undefined && (before.user === undefined || before.user.disabled))
    throw reject('this user is disabled or deleted');
  if (before.membership?.disabled) throw reject('this user is disabled in the organization');
  const role = mapRole(provider, claims);
  if (role === null && before.membership?.role !== 'owner')
    throw reject('none of the groups at the identity provider has a role in this organization');
  if (before.user !== undefined && before.membership !== undefined && !isOtherRole(before.membership, role))
    return before.user;
  if (before.membership === undefined) await requireVerifiedDomain(admission, ports);
  return change((scope) => createAndAssign(scope, admission, role));
};

/** Whether the mapping assigns another role. The role Owner is never changed by a mapping. */
const isOtherRole = ({ role }: Membership, mappedRole: RoleMappingResult): mappedRole is MappedRole =>
  mappedRole !== undefined && mappedRole !== null && role !== 'owner' && role !== mappedRole;

const findExisting = async (
  { tenantId, claims }: AdmissionContext,
  documents: Pick<AuditedTransaction, 'forTenant'>,
): Promise<ExistingObjects> => {
  const identityPage = await documents
    .forTenant(identitiesTenant)
    .collection(identities)
    .list({ filter: { issuer: claims.iss, subject: claims.sub }, limit: 1 });
  const identity = identityPage.items[0];
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
  const existingObjects = await findExisting(admitting, scope);
  const membershipCollection = scope.forTenant(tenantId).collection(memberships);
  if (existingObjects.user !== undefined && existingObjects.membership !== undefined) {
    const { user, membership } = existingObjects;
    // Another change set the same role in the meantime.
    if (!isOtherRole(membership, role))
      throw new ApiError('CONFLICT', 'the user was changed in the meantime; sign in again');
    await membershipCollection.update(user.id, { role }, membership.version);
    recordChange(scope, admitting, { action: 'user.update', user, before: { role: membership.role }, after: { role } });
    return user;
  }
  const assignedRole = role ?? provider.defaultRole;
  if (assignedRole === null) throw createForbiddenError('the identity provider is set up without a default role');
  const email = requireAdmittedEmail(admitting);
  const user = existingObjects.user ?? (await createUser(scope, admitting, email));
  await membershipCollection.insert({ id: user.id, role: assignedRole });
  recordChange(scope, admitting, {
    action: 'user.provision',
    user,
    after: { email, role: assignedRole, issuer: provider.issuer },
  });
  return user;
};

const recordChange = (
  scope: AuditedTransaction,
  { tenantId }: AdmissionContext,
  { user, ...entry }: { action: string; user: User & StoredMetadata; before?: object; after: object },
): void =>
  scope.record({
    ...entry,
    tenantId,
    id: user.id,
    name: user.email,
    actor: { type: 'user', id: user.id, name: user.email },
  });

/** Returns the address if the provider is authorized for its domain. */
const requireAdmittedEmail = ({ provider, claims }: AdmissionContext): string => {
  const { success, data: email = '' } = EmailAddress.safeParse(claims['email']);
  if (!success)
    throw createForbiddenError('the identity provider sent no e-mail address; request the scope "email" there');
  if (claims['email_verified'] !== true)
    throw createForbiddenError(
      `the identity provider has not verified ${email}: an unverified address does not admit a user`,
    );
  const domain = extractDomain(email);
  if (!provider.domains.some(({ name, provedAt }) => provedAt !== null && name === domain))
    throw createForbiddenError(`the organization has not verified that ${domain ?? email} is its domain`);
  return email;
};

/** Throws unless the domain of a new user is verified at this moment, because the owner of a domain may have changed. */
const requireVerifiedDomain = async (
  admitting: AdmissionContext,
  { outbound, secretBox }: IdentityPorts,
): Promise<void> => {
  const domain = extractDomain(requireAdmittedEmail(admitting)) ?? '';
  const isVerified = await isDomainVerified({ outbound, box: secretBox }, admitting.tenantId, domain);
  if (isVerified === undefined)
    throw new ApiError('UNAVAILABLE', `the DNS record that proves ${domain} cannot be looked up now; try again later`);
  if (!isVerified)
    throw createForbiddenError(`the DNS record that proved the organization’s ownership of ${domain} no longer exists`);
};

const createUser = async (
  scope: AuditedTransaction,
  { claims }: AdmissionContext,
  email: string,
): Promise<User & StoredMetadata> => {
  const userCollection = scope.forTenant(usersTenant).collection(users);
  const sameEmailUsers = await userCollection.list({ filter: { email }, limit: 1 });
  if (sameEmailUsers.items.length > 0)
    throw new ApiError(
      'CONFLICT',
      `the user ${email} already exists: sign in with the password, and link the identity provider from there`,
    );
  const name = typeof claims['name'] === 'string' ? claims['name'].replace(/\p{Cc}+/gu, ' ').slice(0, 256) : '';
  const user = await userCollection.insert({ id: randomUUID(), email, name, passwordHash: null, disabled: false });
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
    const identityCollection = scope.forTenant(identitiesTenant).collection(identities);
    const { items } = await identityCollection.list({ filter: { issuer: claims.iss, subject: claims.sub }, limit: 1 });
    if (items[0] !== undefined && items[0].userId !== user.id)
      throw new ApiError('CONFLICT', 'this identity already belongs to another user');
    if (items[0] === undefined)
      await identityCollection.insert({ issuer: claims.iss, subject: claims.sub, userId: user.id });
    const changeText = `The identity provider ${claims.iss} was linked. It can now sign you in.`;
    await mail.enqueue(scope, createSignInChangedMail(settings, user.email, changeText));
    scope.record({
      action: 'identity.link',
      tenantId,
      id: user.id,
      name: user.email,
      after: { issuer: claims.iss },
      actor: { type: 'user', id: user.id, name: user.email },
    });
  });
