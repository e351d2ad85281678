/** Writes YAML. All YAML that the product answers is written here, so that readers of YAML 1.1 and 1.2 read the same. */
import { Document, type ToStringOptions, visit } from 'yaml';

/** Characters that are no text of YAML (c-printable of YAML 1.2, 5.1), that begin a line in YAML 1.1 alone, or that mark the order of bytes. */
const unprintable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;
const everyUnprintable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Texts that YAML 1.1 gives a meaning and that the list of `compat` does not have: the value and merge keys. */
const meaningIn11 = new Set(['=', '<<']);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A value as one document. Texts that YAML 1.1 would read as something else (`no`, `1:20`, `2026-02-31`) are quoted. */
export const writeYaml = (value: unknown, options: ToStringOptions = {}): string => {
  const document = new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      const text = node.value;
      if (typeof text === 'string' && (unprintable.test(text) || meaningIn11.has(text))) node.type = 'QUOTE_DOUBLE';
    },
  });
  // All that is left of them stands within double quotes, where they may be escaped.
  return document.toString(options).replace(everyUnprintable, escaped);
};

/** A text as a line of comment, with its end. */
export const yamlComment = (text: string): string =>
  `# ${text.replace(/[\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]/gu, ' ')}\n`;
