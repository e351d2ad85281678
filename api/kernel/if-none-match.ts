/** Whether `If-None-Match` names the tag that would be answered. Unlike Koa's `fresh`, whatever `Cache-Control` says: browsers send it along. */
export const holds = (ifNoneMatch: string, etag: string): boolean =>
  etag !== '' && ifNoneMatch.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
