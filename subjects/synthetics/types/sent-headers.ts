/** User-defined headers of requests over HTTP and protocols based on HTTP */
import { z } from 'zod';
import type { Problem } from '../assertions.ts';

export const headers = z
  .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/, 'must be the name of a header'), z.string().max(8192))
  .default({});

/** Headers that frame a message or identify its run cannot be set by users */
const reservedHeaders = new Set([
  ...['connection', 'content-length', 'expect', 'keep-alive', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'traceparent', 'x-oiq-check', 'x-oiq-location'],
]);

/**
 * Returns problems for headers that the probe sets. Paths are relative to the container `field`; `isReserved` identifies
 * further reserved headers.
 */
export const findHeaderProblems = (
  headerValues: Readonly<Record<string, string>>,
  field: string,
  isReserved: (name: string) => boolean = () => false,
): readonly Problem[] =>
  Object.keys(headerValues)
    .filter((name) => reservedHeaders.has(name.toLowerCase()) || isReserved(name.toLowerCase()))
    .map((name) => ({ path: `${field}.${name}`, message: 'is set by the probe' }));
