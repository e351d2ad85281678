/** Where the lines of a text in a table may break */

const longWord = /[^\s-]{25}/;
const time = /^\d[\d-]{9} \d\d:\d\d/;

/** Returns the class of a text in a cell: a time never breaks, and a word only if it is long. */
export const toBreakClass = (text: string): string | undefined =>
  time.test(text) ? 'no-wrap' : longWord.test(text) ? undefined : 'whole-words';
