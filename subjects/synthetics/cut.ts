/** Stands where a text was cut: secrets are struck out there, too, of which only the beginning is left. */
export const cutMark = '…';

export const cut = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}${cutMark}` : text;
