/** Marks where a text was truncated. Secrets are also redacted there if only their beginning remains. */
export const cutMark = '…';

export const cut = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}${cutMark}` : text;
