/** Tokens of locations. A token only allows a probe to fetch the work of its location and to send results. */
import { timingSafeEqual } from 'node:crypto';
import { platformTenant } from '../../../schemas/ports/documents.ts';
import {
  hashProbeToken,
  probeTokenPrefix,
  type SyntheticLocation,
  syntheticLocations,
} from '../../../schemas/resources/synthetic-location.ts';
import { ApiError } from '../../errors.ts';
import type { Ports } from '../../kernel/ports.ts';
import type { RequestFacts } from '../../request-facts.ts';

const tokenPurpose = 'synthetic-probe';
/** Number of characters of a token that are displayed */
const displayPrefixLength = probeTokenPrefix.length + 6;

/** Creates a token, and its stored form. */
export const createProbeToken = (
  box: Ports['secretBox'],
  tenantId: string,
  locationId: string,
): { readonly token: string } & Pick<SyntheticLocation, 'hash' | 'prefix'> => {
  const token = probeTokenPrefix + box.seal(tokenPurpose, `${tenantId} ${locationId}`);
  return { token, hash: hashProbeToken(token), prefix: token.slice(0, displayPrefixLength) };
};

/**
 * Returns the location of the request's token. For an invalid token, the same steps run, so that the response time
 * does not reveal why the token is invalid.
 */
export const authenticateLocation = async (
  request: RequestFacts,
  { documents, secretBox }: Pick<Ports, 'documents' | 'secretBox'>,
): Promise<{ readonly tenantId: string; readonly id: string }> => {
  const token = /^Bearer (\S+)$/i.exec(request.header('authorization'))?.[1] ?? '';
  const sealedText = token.startsWith(probeTokenPrefix) ? token.slice(probeTokenPrefix.length) : '';
  const [tenantId = platformTenant, id = 'none'] = secretBox.open(tokenPurpose, sealedText)?.split(' ') ?? [];
  const location = await documents.forTenant(tenantId).collection(syntheticLocations).find(id);
  const hash = Buffer.from(hashProbeToken(token));
  const hasMatchingHash = timingSafeEqual(hash, Buffer.from(location?.hash ?? '0'.repeat(hash.length)));
  if (location === undefined || !hasMatchingHash)
    throw new ApiError('UNAUTHENTICATED', 'the token of the location is wrong, or the location was deleted');
  return { tenantId, id };
};
