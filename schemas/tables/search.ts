/**
 * Indexes of what people search by, and the exact expressions that use them. The engine uses an index only when a query
 * spells its expression the same way, so reads take these from here and never spell them themselves.
 */
import { severityNumbers } from '../records/severity.ts';
import { quote } from './literal.ts';

/** `severityNumberOf` of a row of `logs`. */
export const severityNumberSql = `if(severity_number > 0, severity_number, transform(lower(severity_text), [${[...severityNumbers.keys()].map(quote).join(', ')}], [${[...severityNumbers.values()].join(', ')}], 0))`;

/** Words of a body, in lower case (ASCII; other letters as they are). */
const bodyText = 'lower(body)';
/**
 * One hash for each key and value, in a Bloom filter. A text index of the pairs costs more than all else that an insert
 * does (folder's README); the filter skips granules without a rare value as well, and where a value is common the rows must
 * be read anyway.
 */
const pairs = 'arrayMap((k, v) -> cityHash64(k, v), mapKeys(attributes), mapValues(attributes))';

/**
 * Words of a body in a Bloom filter, sized by how many there are: a third of what a text index of them costs to make and to merge (folder's
 * README). A granule that it is wrong about is read for nothing, which costs more than a larger filter. `fresh_words` serves until a
 * part's first merge. It has one size for all and one hash a word, so that it tells little of granules with many words, and takes a fifth
 * of the other's time to make.
 */
export const bodyIndex = {
  body_words: `tokens(${bodyText}) TYPE bloom_filter(0.001) GRANULARITY 1`,
  fresh_words: `${bodyText} TYPE tokenbf_v1(32768, 1, 0) GRANULARITY 1`,
} as const;
export const attributeIndex = { attribute_pairs: `${pairs} TYPE bloom_filter(0.01) GRANULARITY 1` } as const;
/** Lists begin with the newest minute, and sorting keys know ten: few inserts and few granules of busy resources have rows of it. */
export const timeIndex = { time_range: 'timestamp TYPE minmax GRANULARITY 1' } as const;
export const traceIndex = { trace: 'trace_id TYPE bloom_filter(0.01) GRANULARITY 1' } as const;
/**
 * For tables with many rows of a trace. It lies within a few minutes, so that a million rows have few ids for their number: first there
 * is a filter for each million, and only then are those of granules looked at, which are hundreds of megabytes for a month.
 */
export const traceIndexes = {
  trace_of_many: 'trace_id TYPE bloom_filter(0.01) GRANULARITY 128',
  ...traceIndex,
} as const;
/**
 * Rows of one resource lie together, which the sorting key knows too. But where a condition is of attributes "or of the resource", the
 * engine joins indexes like this one with that of attributes, and the key with none.
 */
export const resourceIndex = { resource_range: 'resource_id TYPE minmax GRANULARITY 1' } as const;

/**
 * Not made by inserts, which take most of what else an insert costs for them; merges make indexes anew anyway. Until then attributes of
 * the rows that no merge has seen are read: that is one column of a million and a half rows at most.
 */
export const madeByMerges: readonly string[] = ['body_words', 'attribute_pairs'] satisfies (
  | keyof typeof bodyIndex
  | keyof typeof attributeIndex
)[];
/** Not made by merges. */
export const madeByInserts: readonly string[] = ['fresh_words'] satisfies (keyof typeof bodyIndex)[];

/** In lower case as the engine's `lower` is: letters of ASCII. */
export const lowered = (text: string): string => text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());

/** As the engine splits texts: letters and digits of ASCII, and every other character. */
const wordsOf = (text: string): readonly string[] => [
  ...new Set((text.match(/[0-9A-Za-z\u0080-\u{10ffff}]+/gu) ?? []).map(lowered)),
];
const listOf = (words: readonly string[]): string => `[${words.map(quote).join(', ')}]`;

/** One word at a time is looked for several times faster than all at once; each takes a pass of its own over what the others leave. */
const maxWordsAtATime = 4;

/** True for bodies with every word of the text, in any order and case. A text without a word matches nothing. */
export const bodyHasAllWords = (text: string): string => {
  const words = wordsOf(text).toSorted((one, other) => other.length - one.length);
  if (words.length === 0) return 'false';
  const conditions = [
    `indexHint(hasAll(tokens(${bodyText}), ${listOf(words)}))`,
    ...words.slice(0, maxWordsAtATime).map((word) => `hasToken(${bodyText}, ${quote(word)})`),
    ...(words.length > maxWordsAtATime ? [`hasAllTokens(${bodyText}, ${listOf(words.slice(maxWordsAtATime))})`] : []),
  ];
  return `(${conditions.join(' AND ')})`;
};

/** True for bodies with at least one word of the text. */
export const bodyHasAnyWord = (text: string): string => {
  const words = wordsOf(text);
  if (words.length === 0) return 'false';
  return `(indexHint(hasAny(tokens(${bodyText}), ${listOf(words)})) AND hasAnyTokens(${bodyText}, ${listOf(words)}))`;
};

/** Escapes by which JSON may write a letter of ASCII. */
const escapedCharacter = "position(body, '\\\\u00') > 0";

/** True for bodies with each of these runs of ASCII letters anywhere in them, also where JSON may have escaped them. */
export const jsonBodyHasAll = (characters: readonly string[]): string =>
  characters.length === 0
    ? 'true'
    : `(${characters.map((each) => `position(body, ${quote(each)}) > 0`).join(' AND ')} OR ${escapedCharacter})`;

/** How the words of a search are looked for in the records of a table. */
export interface SearchedText {
  /** True for records with every word of the text, in any order and case. A text without a word matches nothing. */
  hasAllWords(text: string): string;
  /** True for records that the pattern fits: an SQL expression of RE2, of the text as it came or in lower case. */
  matches(pattern: string, form: 'raw' | 'lower'): string;
  /** Whether an index serves `hasAllWords`, so that what is slower is asked only of what it leaves. */
  readonly isIndexed: boolean;
}

/** The text of one column: `body`. */
export const bodySearch: SearchedText = {
  hasAllWords: bodyHasAllWords,
  matches: (pattern, form) => `match(${form === 'lower' ? bodyText : 'body'}, ${pattern})`,
  isIndexed: true,
};

/** Several texts: words may be in any of them, a pattern fits one. `joined` is all of them in lower case, `each` an array. */
const severalTexts = (joined: string, each: string): SearchedText => ({
  hasAllWords(text) {
    const words = wordsOf(text);
    return words.length === 0 ? 'false' : `hasAllTokens(${joined}, ${listOf(words)})`;
  },
  matches: (pattern, form) =>
    `arrayExists(text -> match(${form === 'lower' ? 'lower(text)' : 'text'}, ${pattern}), ${each})`,
  isIndexed: false,
});

/** Name, service and values of attributes. */
export const spanSearch = severalTexts(
  "lower(concat(name, ' ', service, ' ', arrayStringConcat(mapValues(attributes), ' ')))",
  'arrayConcat([toString(name), toString(service)], mapValues(attributes))',
);

/** Metric, description, service and values of labels. */
export const seriesSearch = severalTexts(
  "lower(concat(metric, ' ', series.description, ' ', series.service, ' ', arrayStringConcat(mapValues(attributes), ' ')))",
  'arrayConcat([toString(metric), toString(series.description), toString(series.service)], mapValues(attributes))',
);

/**
 * The text of an attribute, empty without it, of the first one where a record has several of that key. `key` is an SQL expression. The
 * engine's own `attributes[key]` is an eighth cheaper, but in 26.7.2 it sometimes gives the second one.
 */
export const attributeText = (key: string): string => `mapValues(attributes)[indexOf(mapKeys(attributes), ${key})]`;

/**
 * True where the attribute has exactly this value. `key` and `value` are SQL expressions, say `{key:String}` and `{value:String}`. The index
 * is only hinted at: hashing all attributes of each row that is left costs more than reading them. A missing one reads as an empty text.
 */
export const attributeEquals = (key: string, value: string): string =>
  `(indexHint(has(${pairs}, cityHash64(${key}, ${value}))) AND ${attributeText(key)} = ${value} AND (${value} != '' OR mapContains(attributes, ${key})))`;

/** True for the rows of a trace. `id` is a parameter or literal of 32 hexadecimal digits; the index is not used for anything that the engine does not fold. */
export const traceIs = (id: string): string => `trace_id = unhex(${id})`;
