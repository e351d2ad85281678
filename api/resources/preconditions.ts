import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { ApiError, createFieldError } from '../errors.ts';
import type { RequestFacts } from '../request-facts.ts';

/** The versions in `If-Match`, or `any` for `*` */
export type Precondition = readonly number[] | 'any';

export const formatEtag = ({ version }: Pick<StoredMetadata, 'version'>): string => `"${version}"`;

/**
 * Parses `If-Match` of a request, if present. Weak tags are accepted too: compressing proxies weaken tags, and the tags
 * of this API identify a version of the content, not of its bytes.
 */
export const parsePrecondition = (request: Pick<RequestFacts, 'header'>): Precondition | undefined => {
  const header = request.header('if-match').trim();
  if (header === '') return undefined;
  if (header === '*') return 'any';
  return header.split(',').map((tag) => {
    const match = /^\s*(?:W\/)?"([^"]*)"\s*$/.exec(tag);
    if (match === null)
      throw createFieldError('If-Match', 'must be an ETag from a response, with its quotes, for example "3"');
    return /^\d{1,15}$/.test(match[1] ?? '') ? Number(match[1]) : -1;
  });
};

/** Throws 412 if the version is none of the given ones, and 428 if a required precondition is missing. */
export const requireVersion = (
  document: Pick<StoredMetadata, 'version'>,
  precondition: Precondition | undefined,
  { noun, requiresIfMatch }: { readonly noun: string; readonly requiresIfMatch: boolean },
): void => {
  const headers = { ETag: formatEtag(document) };
  if (precondition === undefined) {
    if (!requiresIfMatch) return;
    const message = `If-Match must have the version of the ${noun} to change: the ETag of the edited response`;
    throw new ApiError('PRECONDITION_REQUIRED', message, { headers });
  }
  if (precondition === 'any' || precondition.includes(document.version)) return;
  throw new ApiError(
    'PRECONDITION_FAILED',
    `the ${noun} was changed by another request and now has version ${document.version}: read it again and repeat the change`,
    { headers },
  );
};
