/**
 * Writes YAML. All YAML output of the product is written here, in a form that parsers of YAML 1.1 and 1.2 read in the
 * same way.
 */
import { Document, type ToStringOptions, visit } from 'yaml';

/**
 * Characters that are not allowed in YAML (c-printable of YAML 1.2, 5.1), that are line breaks only in YAML 1.1, or
 * that are byte order marks.
 */
const unprintable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;
const unprintableGlobal = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Strings that are special in YAML 1.1 that `compat` does not cover: the value and merge keys. */
const yaml11Keys = new Set(['=', '<<']);

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Returns a value as one document. Texts that YAML 1.1 would parse differently (`no`, `1:20`, `2026-02-31`) are quoted.
 */
export const writeYaml = (value: unknown, options: ToStringOptions = {}): string => {
  const document = new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      const text = node.value;
      if (typeof text === 'string' && (unprintable.test(text) || yaml11Keys.has(text))) node.type = 'QUOTE_DOUBLE';
    },
  });
  // The remaining unprintable characters are within double quotes, where they may be escaped.
  return document.toString(options).replace(unprintableGlobal, escapeCharacter);
};

/** Returns a text as a comment line, with its line break. */
export const formatYamlComment = (text: string): string =>
  `# ${text.replace(/[\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]/gu, ' ')}\n`;
