import { domainToASCII } from 'node:url';
import type { Outbound } from '../../../runtime/outbound.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import {
  type IdentityProvider,
  identityProviderId,
  identityProviders,
  provedDomains,
  provedDomainsTenant,
} from '../../../schemas/resources/identity-provider.ts';
import { createSystemActor, createSystemTransact } from '../../changes.ts';

const recordPrefix = 'oiq-verification=';

/** The TXT record of a domain that verifies it for one organization only. */
export const createVerificationRecord = (box: SecretBox, tenantId: string, domain: string): string =>
  `${recordPrefix}${box.derive('domain proof', JSON.stringify([tenantId, domain])).toString('base64url')}`;

/** Normalizes a domain for comparison; returns undefined if it is invalid. */
export const normalizeDomain = (text: string): string | undefined => {
  const ascii = domainToASCII(text.trim().toLowerCase().replace(/\.$/, ''));
  return /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(ascii)
    ? ascii
    : undefined;
};

/** Returns the domain of an e-mail address. */
export const extractDomain = (email: string): string | undefined =>
  normalizeDomain(email.slice(email.lastIndexOf('@') + 1));

/** Whether DNS contains the record of a domain; `undefined` if DNS does not respond. */
export const isDomainVerified = async (
  { outbound, box }: { readonly outbound: Outbound; readonly box: SecretBox },
  tenantId: string,
  domain: string,
): Promise<boolean | undefined> => {
  const records = await outbound.resolveTxt(domain);
  return records?.some((record) => record.trim() === createVerificationRecord(box, tenantId, domain));
};

/** Stores the verified domains of an organization, by which users are routed to its identity provider. */
export const syncVerifiedDomains = async (
  forTenant: Documents['forTenant'],
  tenantId: string,
  { domains }: Pick<IdentityProvider, 'domains'>,
): Promise<void> => {
  const verifiedDomains = forTenant(provedDomainsTenant).collection(provedDomains);
  const { items } = await verifiedDomains.list({ filter: { tenantId } });
  const verifiedNames = domains.filter(({ provedAt }) => provedAt !== null).map(({ name }) => name);
  for (const { id, domain } of items) if (!verifiedNames.includes(domain)) await verifiedDomains.delete(id);
  for (const domain of verifiedNames)
    if (!items.some((item) => item.domain === domain)) await verifiedDomains.insert({ domain, tenantId });
};

export interface DomainPorts {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly outbound: Outbound;
  readonly box: SecretBox;
}

/**
 * Looks up the DNS record of every verified domain again: a domain without its record is no longer verified. If DNS does
 * not respond, nothing changes; a new user is only admitted if the record exists at that time.
 */
export const recheckDomains = async (ports: DomainPorts): Promise<void> => {
  for await (const { tenantId, domains } of ports.documents.findInAllTenants(identityProviders)) {
    const lostDomains: string[] = [];
    for (const { name, provedAt } of domains)
      if (provedAt !== null && (await isDomainVerified(ports, tenantId, name)) === false) lostDomains.push(name);
    if (lostDomains.length > 0) await removeVerification(ports, tenantId, lostDomains);
  }
};

const removeVerification = (ports: DomainPorts, tenantId: string, lostDomains: readonly string[]): Promise<void> =>
  createSystemTransact(
    ports,
    'identity-provider.update',
  )(async ({ forTenant, record, markUnchanged }) => {
    const providerCollection = forTenant(tenantId).collection(identityProviders);
    const before = await providerCollection.find(identityProviderId);
    const isLost = ({ name, provedAt }: IdentityProvider['domains'][number]): boolean =>
      provedAt !== null && lostDomains.includes(name);
    if (!before?.domains.some(isLost)) return markUnchanged();
    const domains = before.domains.map((domain) => (isLost(domain) ? { ...domain, provedAt: null } : domain));
    await providerCollection.update(identityProviderId, { domains }, before.version);
    await syncVerifiedDomains(forTenant, tenantId, { domains });
    record({
      id: identityProviderId,
      name: before.issuer ?? '',
      tenantId,
      actor: createSystemActor('check of domains'),
      before: { domains: before.domains },
      after: { domains },
    });
  });
