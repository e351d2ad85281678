/** Headers that users write, of requests over HTTP and what lies upon it. */
import { z } from 'zod';
import type { Problem } from '../assertions.ts';

export const headers = z
  .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/, 'must be a name of a header'), z.string().max(8192))
  .default({});

/** What frames a message, or says where it goes, is not the user's. */
const ownHeaders = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'user-agent', 'traceparent', 'x-oiq-check', 'x-oiq-location'],
]);

/** Those that the probe sets. Paths are within what holds them as `field`; `more` says what else is not the user's. */
export const headerProblems = (
  given: Readonly<Record<string, string>>,
  field: string,
  isOwn: (name: string) => boolean = () => false,
): readonly Problem[] =>
  Object.keys(given)
    .filter((name) => ownHeaders.has(name.toLowerCase()) || isOwn(name.toLowerCase()))
    .map((name) => ({ path: `${field}.${name}`, message: 'is set by the probe' }));
