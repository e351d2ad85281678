/** Stands where a text was cut: secrets are struck out there, too, of which only the beginning is left. */
export const cutMark = '…';

export const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}${cutMark}` : text;
