/**
 * Indexes of what people search by, and the exact expressions that use them. The engine uses an index only when a query
 * spells its expression the same way, so reads take these from here and never spell them themselves.
 */

/** Words of a body, in lower case (ASCII; other letters as they are). */
const bodyText = 'lower(body)';
/**
 * One hash for each key and value, in a Bloom filter. A text index of the pairs costs more than all else that an insert
 * does (folder's README); the filter skips granules without a rare value as well, and where a value is common the rows must
 * be read anyway.
 */
const pairs = 'arrayMap((k, v) -> cityHash64(k, v), mapKeys(attributes), mapValues(attributes))';

/** Words of a body in a Bloom filter, sized by how many there are: a third of what a text index of them costs to make and to merge (folder's README). */
export const bodyIndex = { body_tokens: `tokens(${bodyText}) TYPE bloom_filter(0.01) GRANULARITY 1` } as const;
export const attributeIndex = { attribute_pairs: `${pairs} TYPE bloom_filter(0.01) GRANULARITY 1` } as const;
export const traceIndex = { trace: 'trace_id TYPE bloom_filter(0.01) GRANULARITY 1' } as const;

/** True for bodies with every word of the text, in any order and case. `text` is an SQL expression, say `{words:String}`; a text without a word matches nothing. */
export const bodyHasAllWords = (text: string): string =>
  `(indexHint(hasAll(tokens(${bodyText}), tokens(lower(${text})))) AND hasAllTokens(${bodyText}, lower(${text})))`;

/** True for bodies with at least one word of the text. */
export const bodyHasAnyWord = (text: string): string =>
  `(indexHint(hasAny(tokens(${bodyText}), tokens(lower(${text})))) AND hasAnyTokens(${bodyText}, lower(${text})))`;

/** True where the attribute has exactly this value. `key` and `value` are SQL expressions, say `{key:String}` and `{value:String}`. */
export const attributeEquals = (key: string, value: string): string =>
  `(has(${pairs}, cityHash64(${key}, ${value})) AND attributes[${key}] = ${value})`;

/** True for the rows of a trace. `id` is a parameter or literal of 32 hexadecimal digits; the index is not used for anything that the engine does not fold. */
export const traceIs = (id: string): string => `trace_id = unhex(${id})`;
