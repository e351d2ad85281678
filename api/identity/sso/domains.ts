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
import { systemActor, systemChange } from '../../changes.ts';

const prefix = 'oiq-verification=';

/** The TXT record of a domain that verifies it for one organization only. */
export const proofOf = (box: SecretBox, tenantId: string, domain: string): string =>
  `${prefix}${box.derive('domain proof', JSON.stringify([tenantId, domain])).toString('base64url')}`;

/** Normalizes a domain for comparison; returns undefined if it is invalid. */
export const domainOf = (text: string): string | undefined => {
  const ascii = domainToASCII(text.trim().toLowerCase().replace(/\.$/, ''));
  return /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(ascii)
    ? ascii
    : undefined;
};

/** Returns the domain of an e-mail address. */
export const domainOfEmail = (email: string): string | undefined => domainOf(email.slice(email.lastIndexOf('@') + 1));

/** Looks up the record. `undefined` when the name service does not answer. */
export const isProved = async (
  { outbound, box }: { readonly outbound: Outbound; readonly box: SecretBox },
  tenantId: string,
  domain: string,
): Promise<boolean | undefined> => {
  const records = await outbound.txt(domain);
  return records?.some((record) => record.trim() === proofOf(box, tenantId, domain));
};

/** Routes addresses of verified domains to the organization. */
export const routeDomains = async (
  of: Documents['of'],
  tenantId: string,
  { domains }: Pick<IdentityProvider, 'domains'>,
): Promise<void> => {
  const leads = of(provedDomainsTenant).collection(provedDomains);
  const { items } = await leads.list({ filter: { tenantId } });
  const proved = domains.filter(({ provedAt }) => provedAt !== null).map(({ name }) => name);
  for (const { id, domain } of items) if (!proved.includes(domain)) await leads.delete(id);
  for (const domain of proved)
    if (!items.some((item) => item.domain === domain)) await leads.insert({ domain, tenantId });
};

export interface DomainPorts {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly outbound: Outbound;
  readonly box: SecretBox;
}

/**
 * Checks the record of every verified domain again: a domain without its record is no longer verified. If the name
 * service does not answer, nothing changes; admitting a new user requires the record at that moment.
 */
export const checkDomains = async (checking: DomainPorts): Promise<void> => {
  for await (const { tenantId, domains } of checking.documents.everywhere(identityProviders)) {
    const lost: string[] = [];
    for (const { name, provedAt } of domains)
      if (provedAt !== null && (await isProved(checking, tenantId, name)) === false) lost.push(name);
    if (lost.length > 0) await unprove(checking, tenantId, lost);
  }
};

const unprove = (checking: DomainPorts, tenantId: string, lost: readonly string[]): Promise<void> =>
  systemChange(
    checking,
    'identity-provider.update',
  )(async ({ of, record, unchanged }) => {
    const own = of(tenantId).collection(identityProviders);
    const before = await own.find(identityProviderId);
    const isLost = ({ name, provedAt }: IdentityProvider['domains'][number]): boolean =>
      provedAt !== null && lost.includes(name);
    if (!before?.domains.some(isLost)) return unchanged();
    const domains = before.domains.map((domain) => (isLost(domain) ? { ...domain, provedAt: null } : domain));
    await own.update(identityProviderId, { domains }, before.version);
    await routeDomains(of, tenantId, { domains });
    record({
      id: identityProviderId,
      name: before.issuer ?? '',
      tenantId,
      actor: systemActor('check of domains'),
      before: { domains: before.domains },
      after: { domains },
    });
  });
