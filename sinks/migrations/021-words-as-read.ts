/**
 * Replaces the word filters of bodies. Words are without escape sequences and differences of case in all languages, and
 * characters of languages without spaces are words. The filters have new names, because filters are read as declared,
 * whenever they were built. Existing parts get the first in the background: until then, word searches read their bodies.
 */
import type { Migration } from './migration.ts';

const unusualWords = String.raw`concat(if(empty(if(isValidASCII(body) AND NOT (position(body, '\x1b') > 0 OR positionCaseInsensitive(body, '\\u001b') > 0), '', body)), '', ' '), replaceRegexpAll(replaceRegexpAll(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(normalizeUTF8NFKC(toValidUTF8(replaceRegexpAll(if(isValidASCII(body) AND NOT (position(body, '\x1b') > 0 OR positionCaseInsensitive(body, '\\u001b') > 0), '', body), '(?:\\x1b|\\\\u001[bB])(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07\\x1b\\\\]*(?:\\x07|\\x1b\\\\|\\\\u0007|\\\\u001[bB]\\\\\\\\?)|[ -/]*[0-~])?', '')))), 'ς', 'σ'), 'ı', 'i'), 'ß', 'ss'), '̇', ''), '[\\x{80}-\\x{a9}\\x{ab}-\\x{b1}\\x{b6}-\\x{b7}\\x{bb}-\\x{bb}\\x{bf}-\\x{bf}\\x{d7}-\\x{d7}\\x{f7}-\\x{f7}\\x{55a}-\\x{55f}\\x{589}-\\x{58a}\\x{5be}-\\x{5be}\\x{5c0}-\\x{5c0}\\x{5c3}-\\x{5c3}\\x{5c6}-\\x{5c6}\\x{5f3}-\\x{5f4}\\x{600}-\\x{60f}\\x{61b}-\\x{61f}\\x{66a}-\\x{66d}\\x{6d4}-\\x{6d4}\\x{700}-\\x{70d}\\x{964}-\\x{965}\\x{970}-\\x{970}\\x{f04}-\\x{f14}\\x{f3a}-\\x{f3d}\\x{104a}-\\x{104f}\\x{10fb}-\\x{10fb}\\x{1360}-\\x{1368}\\x{1680}-\\x{1680}\\x{17d4}-\\x{17da}\\x{1800}-\\x{180f}\\x{2000}-\\x{200b}\\x{200e}-\\x{206f}\\x{2e00}-\\x{2e7f}\\x{3000}-\\x{3004}\\x{3008}-\\x{3020}\\x{3030}-\\x{3030}\\x{303d}-\\x{303f}\\x{30a0}-\\x{30a0}\\x{30fb}-\\x{30fb}\\x{fd3e}-\\x{fd3f}\\x{fe00}-\\x{fe6f}\\x{feff}-\\x{feff}\\x{fff9}-\\x{fffd}\\x{e0000}-\\x{e0fff}]', ' '), '[\\x{e00}-\\x{109f}\\x{1100}-\\x{11ff}\\x{1780}-\\x{17ff}\\x{1950}-\\x{19ff}\\x{1a20}-\\x{1aaf}\\x{1b00}-\\x{1b7f}\\x{20a0}-\\x{20cf}\\x{2190}-\\x{2bff}\\x{2e80}-\\x{9fff}\\x{a960}-\\x{a97f}\\x{a980}-\\x{a9ff}\\x{aa60}-\\x{aadf}\\x{ac00}-\\x{d7ff}\\x{e000}-\\x{faff}\\x{1aff0}-\\x{1b2ff}\\x{1f000}-\\x{1fbff}\\x{20000}-\\x{3ffff}\\x{f0000}-\\x{10ffff}]', ' \\0 '))`;

const words = 'if(empty(body_words), lower(body), body_words)';

const changes: readonly string[] = [
  // Existing parts have no column: the engine computes it when it reads them.
  `ALTER TABLE logs ADD COLUMN IF NOT EXISTS body_words String DEFAULT ${unusualWords} CODEC(ZSTD(1)) AFTER body`,
  `ALTER TABLE logs ADD INDEX IF NOT EXISTS text_words tokens(${words}) TYPE bloom_filter(0.001) GRANULARITY 1 FIRST`,
  `ALTER TABLE logs ADD INDEX IF NOT EXISTS fresh_text_words ${words} TYPE tokenbf_v1(32768, 1, 0) GRANULARITY 1 AFTER text_words`,
  "ALTER TABLE logs MODIFY SETTING exclude_materialize_skip_indexes_on_merge = 'fresh_text_words'",
  'ALTER TABLE logs MATERIALIZE INDEX text_words',
  'ALTER TABLE logs DROP INDEX IF EXISTS body_words',
  'ALTER TABLE logs DROP INDEX IF EXISTS fresh_words',
];

export const indexWordsAsRead: Migration = {
  id: 21,
  name: 'words as read',
  async up(columns) {
    for (const change of changes) await columns.execute(change);
  },
};
