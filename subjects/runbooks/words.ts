/** Splits texts into searchable words and stems */
import { stemmer } from 'stemmer';

/** Words that occur in every text and do not distinguish texts */
const fillerWords = new Set(
  `a about above after all also an and any are as at be because been before being below but by can could did do does
  for from had has have he her here his how i if in into is it its itself just may me might more most must my no not
  now of off on once only or other our out over own same she should so some such than that the their them then there
  these they this those through to too under until up us very was we were what when where which while who whom why
  will with would you your`.split(/\s+/),
);

const maxWordLength = 64;
const wordPattern = /[\p{L}\p{N}]+/gu;

/** Splits camel case: `KubePodCrashLooping` → `Kube Pod Crash Looping`, `HTTPServer` → `HTTP Server`. */
const splitCamelCase = (name: string): readonly string[] =>
  name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(' ');

/** Returns words in their order; names in camel case by their parts and in full. Fillers are omitted. */
export const splitSearchWords = (text: string): string[] => {
  const words: string[] = [];
  for (const [match] of text.normalize('NFKC').matchAll(wordPattern)) {
    const name = match.slice(0, maxWordLength);
    const parts = splitCamelCase(name);
    for (const part of parts.length > 1 ? [...parts, name] : parts) {
      const word = part.toLowerCase();
      if (!fillerWords.has(word)) words.push(word);
    }
  }
  return words;
};

/** Cache of stems, because texts repeat words and a stem takes microseconds */
const stems = new Map<string, string>();
const maxStems = 50_000;

/** Returns the common stem of a word's forms: `restarting` and `restarts` become `restart`. */
export const toStem = (word: string): string => {
  let stem = stems.get(word);
  if (stem === undefined) {
    stem = stemmer(word);
    if (stems.size >= maxStems) stems.clear();
    stems.set(word, stem);
  }
  return stem;
};

export const toStems = (text: string): Set<string> => new Set(splitSearchWords(text).map(toStem));
