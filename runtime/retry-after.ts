/**
 * Returns the wait in milliseconds that a server requests (`Retry-After`, in seconds or as a date); `undefined` without
 * the header.
 */
export const parseRetryAfterMs = (headers: Headers): number | undefined => {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,7}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now());
};
