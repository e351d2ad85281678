/**
 * Search indexes and the exact expressions that use them. The engine uses an index only if a query contains exactly its
 * expression. Therefore reads use the functions of this file and never contain the expressions themselves.
 */
import { severityNumbers } from '../records/severity.ts';
import { quoteString } from './literal.ts';
import {
  buildFoldedTextSql,
  buildPlainNameSql,
  buildPlainTextSql,
  buildWordsTextSql,
  splitWords,
} from './search-text.ts';

/** SQL of the severity text of a row of `logs`, without colors. */
export const severityTextSql = buildPlainNameSql('severity_text');
/** SQL of `getSeverityNumber` for a row of `logs`. */
export const severityNumberSql = `if(severity_number > 0, severity_number, transform(lower(${severityTextSql}), [${[...severityNumbers.keys()].map(quoteString).join(', ')}], [${[...severityNumbers.values()].join(', ')}], 0))`;

/**
 * Words of a body. Few bodies have a text of words: it is a column, because the engine finds no index in a hint for an
 * expression with constants, and because it takes a microsecond to compute.
 */
const bodyWordsSql = 'if(empty(body_words), lower(body), body_words)';
/**
 * One hash for each key and value, in a Bloom filter. A text index of the pairs costs more than everything else in an
 * insert (see the README of this folder). The filter also skips granules without a rare value, and for a common value
 * the rows must be read anyway.
 */
const buildPairHashesSql = (map: string): string =>
  `arrayMap((k, v) -> cityHash64(k, v), mapKeys(${map}), mapValues(${map}))`;

/**
 * Words of a body in a Bloom filter, sized by their number. It costs a third of a text index to build and to merge (see
 * the README of this folder). A false positive causes an unnecessary read of a granule, which costs more than a
 * larger filter. `fresh_text_words` is used until a part's first merge. It has a fixed size and one hash per word, so that it is
 * less selective for granules with many words, and takes a fifth of the other's build time. Filters of other words have other
 * names, because filters are read as declared, whenever they were built.
 */
export const bodyIndex = {
  text_words: `tokens(${bodyWordsSql}) TYPE bloom_filter(0.001) GRANULARITY 1`,
  fresh_text_words: `${bodyWordsSql} TYPE tokenbf_v1(32768, 1, 0) GRANULARITY 1`,
} as const;
export const attributeIndex = {
  attribute_pairs: `${buildPairHashesSql('attributes')} TYPE bloom_filter(0.01) GRANULARITY 1`,
} as const;
/** Like `attributeIndex`, for the values inside bodies. */
export const bodyValueIndex = {
  body_value_pairs: `${buildPairHashesSql('body_values')} TYPE bloom_filter(0.01) GRANULARITY 1`,
} as const;
/**
 * Lists begin with the latest minute, and sorting keys have a resolution of ten minutes: few inserts, and few granules
 * of busy resources, have rows of that minute.
 */
export const timeIndex = { time_range: 'timestamp TYPE minmax GRANULARITY 1' } as const;
export const traceIndex = { trace: 'trace_id TYPE bloom_filter(0.01) GRANULARITY 1' } as const;
/**
 * For tables with many rows per trace. A trace covers only a few minutes, so that a million rows have relatively few
 * IDs. A filter per million rows is read first, and only then those of granules, which take hundreds of megabytes for a
 * month.
 */
export const traceIndexes = {
  trace_of_many: 'trace_id TYPE bloom_filter(0.01) GRANULARITY 128',
  ...traceIndex,
} as const;
/**
 * Rows of one resource are adjacent, as in the sorting key. But for a condition on attributes "or of the resource", the
 * engine combines this index with the attribute index. It combines the key with no index.
 */
export const resourceIndex = { resource_range: 'resource_id TYPE minmax GRANULARITY 1' } as const;

/**
 * Indexes that inserts do not build, because they would take most of the cost of an insert. Merges rebuild indexes
 * anyway. Until the first merge, reads scan the attributes of the unmerged rows: one column of at most a million and a
 * half rows.
 */
export const indexesBuiltByMerges: readonly string[] = ['text_words', 'attribute_pairs', 'body_value_pairs'] satisfies (
  | keyof typeof bodyIndex
  | keyof typeof attributeIndex
  | keyof typeof bodyValueIndex
)[];
/** Indexes that merges do not build. */
export const indexesBuiltByInserts: readonly string[] = ['fresh_text_words'] satisfies (keyof typeof bodyIndex)[];

/** Returns the text in lower case, like the engine's `lower`: ASCII letters only. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (uppercase) => uppercase.toLowerCase());

const toArraySql = (words: readonly string[]): string => `[${words.map(quoteString).join(', ')}]`;

/**
 * Searching one word at a time is several times faster than all words in one expression. Each word takes a separate
 * pass over the remaining rows.
 */
const maxSeparateWords = 4;

/**
 * Returns a condition for bodies that contain every word of the text, in any order and case. A text without words
 * matches nothing.
 */
export const buildBodyHasAllWords = (text: string): string => {
  const words = splitWords(text).toSorted((left, right) => right.length - left.length);
  if (words.length === 0) return 'false';
  const conditions = [
    `indexHint(hasAll(tokens(${bodyWordsSql}), ${toArraySql(words)}))`,
    ...words.slice(0, maxSeparateWords).map((word) => `hasToken(${bodyWordsSql}, ${quoteString(word)})`),
    ...(words.length > maxSeparateWords
      ? [`hasAllTokens(${bodyWordsSql}, ${toArraySql(words.slice(maxSeparateWords))})`]
      : []),
  ];
  return `(${conditions.join(' AND ')})`;
};

/** Returns a condition for bodies that contain at least one word of the text. */
export const buildBodyHasAnyWord = (text: string): string => {
  const words = splitWords(text);
  if (words.length === 0) return 'false';
  return `(indexHint(hasAny(tokens(${bodyWordsSql}), ${toArraySql(words)})) AND hasAnyTokens(${bodyWordsSql}, ${toArraySql(words)}))`;
};

/** Escape sequences in which JSON may encode an ASCII letter. */
const hasEscapeSql = "position(body, '\\\\u00') > 0";

/**
 * Returns a condition for bodies that contain each of these runs of ASCII letters, including runs that JSON may have
 * escaped.
 */
export const buildJsonBodyHasAll = (characters: readonly string[]): string =>
  characters.length === 0
    ? 'true'
    : `(${characters.map((part) => `position(body, ${quoteString(part)}) > 0`).join(' AND ')} OR ${hasEscapeSql})`;

/** Word search in the records of a table. */
export interface TextSearch {
  /**
   * Returns a condition for records that contain every word of the text, in any order and case. A text without words
   * matches nothing.
   */
  hasAllWords(text: string): string;
  /** Returns a condition for records of which a text, in one of its forms, passes a test in SQL. */
  passes(form: TextForm, test: (textSql: string) => string): string;
  /** Whether an index supports `hasAllWords`, so that slower conditions apply only to the remaining records. */
  readonly isIndexed: boolean;
}

/** The form of a text that a test needs (`search-text.ts`). */
export type TextForm = 'plain' | 'folded' | 'words';
const formBuilders = { plain: buildPlainTextSql, folded: buildFoldedTextSql, words: buildWordsTextSql } as const;

/** Search in one column: `body`. */
export const bodySearch: TextSearch = {
  hasAllWords: buildBodyHasAllWords,
  passes: (form, test) => test(form === 'words' ? bodyWordsSql : formBuilders[form]('body')),
  isIndexed: true,
};

const buildTextHasAllWords = (textSql: string, text: string): string => {
  const words = splitWords(text);
  return words.length === 0 ? 'false' : `hasAllTokens(${buildWordsTextSql(textSql)}, ${toArraySql(words)})`;
};

/** Search in the column `body` of a query over another table. */
export const computedBodySearch: TextSearch = {
  hasAllWords: (text) => buildTextHasAllWords('body', text),
  passes: (form, test) => test(formBuilders[form]('body')),
  isIndexed: false,
};

/** Search in several texts: words may be in any of them, and one must pass a test. `joined` is all of them in one text. */
const createMultiTextSearch = (joinedTextSql: string, textsSql: string): TextSearch => ({
  hasAllWords: (text) => buildTextHasAllWords(joinedTextSql, text),
  passes: (form, test) => `arrayExists(text -> ${test(formBuilders[form]('text'))}, ${textsSql})`,
  isIndexed: false,
});

/** Search in name, service and attribute values. */
export const spanSearch = createMultiTextSearch(
  "concat(name, ' ', service, ' ', arrayStringConcat(mapValues(attributes), ' '))",
  'arrayConcat([toString(name), toString(service)], mapValues(attributes))',
);

/** Search in metric, description, service and label values. */
export const seriesSearch = createMultiTextSearch(
  "concat(metric, ' ', series.description, ' ', series.service, ' ', arrayStringConcat(mapValues(attributes), ' '))",
  'arrayConcat([toString(metric), toString(series.description), toString(series.service)], mapValues(attributes))',
);

/**
 * Returns the text of an attribute; empty without it. If a record has several with that key, the first counts. `key` is
 * an SQL expression. The engine's own `attributes[key]` is an eighth cheaper, but 26.7.2 sometimes returns the second
 * one.
 */
export const buildAttributeTextSql = (key: string, map = 'attributes'): string =>
  `mapValues(${map})[indexOf(mapKeys(${map}), ${key})]`;

/**
 * Returns a hint for the index of attributes: the row may have one of these values, which are SQL expressions, like the
 * key. The index is only a hint: hashing all attributes of each remaining row costs more than reading them.
 */
export const buildAttributeHintSql = (key: string, values: readonly string[], map = 'attributes'): string => {
  const hashes = values.map((value) => `cityHash64(${key}, ${value})`);
  const pairHashes = buildPairHashesSql(map);
  return `indexHint(${hashes.length === 1 ? `has(${pairHashes}, ${hashes[0]})` : `hasAny(${pairHashes}, [${hashes.join(', ')}])`})`;
};

/**
 * Returns a condition for attributes with exactly this value. `key` and `value` are SQL expressions such as
 * `{key:String}` and `{value:String}`. A missing attribute equals an empty text.
 */
export const buildAttributeEqualsSql = (key: string, value: string): string =>
  `(${buildAttributeHintSql(key, [value])} AND ${buildAttributeTextSql(key)} = ${value} AND (${value} != '' OR mapContains(attributes, ${key})))`;

/**
 * Returns a condition for the rows of a trace. `id` is a parameter or literal of 32 hexadecimal digits. The index
 * requires an expression that the engine folds to a constant.
 */
export const traceIs = (id: string): string => `trace_id = unhex(${id})`;
