import { domainToASCII } from 'node:url';
import type { Outbound } from '../../kernel/outbound.ts';
import type { SecretBox } from '../secret-box.ts';

const prefix = 'oiq-verification=';

/** The TXT record of a domain that proves it for an organization, and for no other one. */
export const proofOf = (box: SecretBox, tenantId: string, domain: string): string =>
  `${prefix}${box.derive('domain proof', JSON.stringify([tenantId, domain])).toString('base64url')}`;

/** A domain as names are compared; undefined when it is none. */
export const domainOf = (text: string): string | undefined => {
  const ascii = domainToASCII(text.trim().toLowerCase().replace(/\.$/, ''));
  return /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(ascii)
    ? ascii
    : undefined;
};

/** The domain of an e-mail address. */
export const domainOfEmail = (email: string): string | undefined => domainOf(email.slice(email.lastIndexOf('@') + 1));

/** Looks for the record. `undefined` when the name service cannot tell now. */
export const isProved = async (
  { outbound, box }: { readonly outbound: Outbound; readonly box: SecretBox },
  tenantId: string,
  domain: string,
): Promise<boolean | undefined> => {
  const records = await outbound.txt(domain);
  return records?.some((record) => record.trim() === proofOf(box, tenantId, domain));
};
