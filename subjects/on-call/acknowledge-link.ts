/** Link in a page with which the recipient acknowledges the incident */
import { hash, randomBytes } from 'node:crypto';
import type { Documents } from '../../schemas/ports/documents.ts';
import { oneTimeTokens, oneTimeTokensTenant } from '../../schemas/resources/one-time-token.ts';
import { trimTrailing } from '../../schemas/text.ts';

/** Path of the operation that acknowledges an incident: a POST of `{ token }` */
export const acknowledgePath = '/auth/acknowledge-incident';

const lifetimeMs = 7 * 86_400_000;

/** Creates a link for a person and an incident. Its token is only in the message; each message has its own token. */
export const createAcknowledgeLink = async (
  documents: Pick<Documents, 'forTenant'>,
  page: { readonly tenantId: string; readonly incidentId: string; readonly personId: string },
  { baseUrl, nowMs }: { readonly baseUrl: string; readonly nowMs: number },
): Promise<{ readonly pageUrl: string; readonly postUrl: string; readonly token: string }> => {
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(nowMs + lifetimeMs).toISOString();
  await documents
    .forTenant(oneTimeTokensTenant)
    .collection(oneTimeTokens)
    .insert({ id: hash('sha256', token), purpose: 'acknowledge-incident', ...page, expiresAt });
  const base = trimTrailing(baseUrl, '/');
  return { pageUrl: `${base}/acknowledge#token=${token}`, postUrl: `${base}${acknowledgePath}`, token };
};
