/** Marks where a text was truncated. Secrets are also redacted there if only their beginning remains. */
export const ellipsis = '…';

export const truncate = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}${ellipsis}` : text;
