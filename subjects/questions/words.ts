/** Splits questions into words, and names into their parts */

export interface Word {
  /** The word as written, without trailing punctuation */
  readonly text: string;
  readonly lower: string;
  /** In lower case and singular */
  readonly stem: string;
  readonly is: 'word' | 'quoted' | 'condition' | 'operator' | 'comma';
  /** Content of a quoted text */
  readonly content: string;
}

/** Maximum number of words; typical questions have about twenty */
export const maxWords = 200;

/**
 * A condition of the search language, a quoted text, an operator, a comma, or a word. Each is only tried at the current
 * position.
 */
const tokenPatterns = {
  condition: /-?[A-Za-z_@$][\w.@$/-]{0,512}:(?:"[^"]*"|[^\s",;?!]+)/y,
  quoted: /["“”][^"“”]*["“”]/y,
  operator: />=|<=|!=|==|[=<>≥≤]/y,
  comma: /[,;]/y,
  word: /[^\s"“”,;?!()<>=≥≤]+/y,
} as const;
const tokenKinds = Object.keys(tokenPatterns) as (keyof typeof tokenPatterns)[];

const irregularForms: ReadonlyMap<string, string> = new Map([
  ['this', 'this'],
  ['status', 'status'],
  ['statuses', 'status'],
  ['always', 'always'],
]);

/** Returns the singular in lower case. It may not be a real word, but is the same for all forms of a word. */
export const toStem = (text: string): string => {
  const lower = text.toLowerCase();
  const irregularForm = irregularForms.get(lower);
  if (irregularForm !== undefined) return irregularForm;
  if (lower.length < 3 || !lower.endsWith('s') || /(?:ss|us|is)$/.test(lower)) return lower;
  if (lower.endsWith('ies')) return `${lower.slice(0, -3)}y`;
  return /(?:x|ch|sh|ss)es$/.test(lower) ? lower.slice(0, -2) : lower.slice(0, -1);
};

const verbEndings = ['ation', 'ion', 'ing', 'ed', 'er', 'al', 'e'];
const minRootLength = 5;

/** Verbs whose past has another vowel */
const irregularRoots: Readonly<Record<string, string>> = {
  sell: 'sold',
  sale: 'sold',
  buy: 'bought',
  send: 'sent',
  pay: 'paid',
  lose: 'lost',
  loss: 'lost',
  win: 'won',
  write: 'written',
  wrote: 'written',
};

/** Returns what forms of a verb have in common: "refuse", "refused" and "refusal" become "refus". */
export const toRoot = (stem: string): string => {
  const irregularRoot = irregularRoots[stem];
  if (irregularRoot !== undefined) return irregularRoot;
  const ending = verbEndings.find((each) => stem.endsWith(each) && stem.length - each.length >= minRootLength);
  return ending === undefined ? stem : toRoot(stem.slice(0, -ending.length));
};

const createWord = (kind: Word['is'], text: string): Word => ({
  is: kind,
  text,
  lower: text.toLowerCase(),
  stem: toStem(text),
  // "POSTs" is the plural of POST.
  content: kind === 'quoted' ? text.slice(1, -1) : /^[A-Z]{3,16}s$/.test(text) ? text.slice(0, -1) : text,
});

/** Returns a word without final punctuation and possessive: `checkout's` becomes `checkout`. */
const stripSuffix = (text: string): string => {
  let end = text.length;
  while (end > 0 && ".:'’*".includes(text[end - 1] as string)) end--;
  const word = text.slice(0, end);
  return /['’]s$/.test(word) && word.length > 6 ? word.slice(0, -2) : word;
};

/** A word, and its length in the text including the removed suffix */
interface Token {
  readonly word: Word;
  readonly length: number;
}

const matchToken = (text: string, offset: number): Token | undefined => {
  for (const kind of tokenKinds) {
    const pattern = tokenPatterns[kind];
    pattern.lastIndex = offset;
    const match = pattern.exec(text)?.[0];
    if (match !== undefined)
      return { word: createWord(kind, kind === 'word' ? stripSuffix(match) || match : match), length: match.length };
  }
  return undefined;
};

/** A rate with a slash, which is not a path: `requests/s` */
const ratePattern = /\b(requests?|reqs?|logs?|errors?|spans?|calls?)\/(s|sec|second|min|minute|h|hour|day)\b/gi;
const unitNames: Readonly<Record<string, string>> = { s: 'second', sec: 'second', min: 'minute', h: 'hour' };

/** Returns the words of a question, at most `limit`; further words are omitted. */
export const splitWords = (input: string, limit = maxWords + 1): Word[] => {
  const question = input
    .replace(ratePattern, (_all, noun: string, unit: string) => `${noun} per ${unitNames[unit.toLowerCase()] ?? unit}`)
    .replace(/(?<=^|\s)non-(?=[\w/])/gi, 'not ');
  const words: Word[] = [];
  let offset = 0;
  while (offset < question.length && words.length < limit) {
    const token = matchToken(question, offset);
    if (token !== undefined && /[\p{L}\p{N}<>=≥≤,"“”/%]/u.test(token.word.text)) words.push(token.word);
    offset += Math.max(1, token?.length ?? 1);
  }
  return words;
};

/** Returns the stems of a name: `http.request.statusCode` becomes `http request status code`. */
export const splitNameStems = (name: string): string[] =>
  name
    .slice(0, 512)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
    .map(toStem);
