/**
 * Whether `If-None-Match` contains the current tag. Unlike Koa's `fresh`, it ignores `Cache-Control`, which browsers
 * send too.
 */
export const matchesTag = (ifNoneMatch: string, etag: string): boolean =>
  etag !== '' && ifNoneMatch.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
