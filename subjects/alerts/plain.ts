/** Texts in labels and annotations of rules, which are templates. */

/** Characters of a label. */
export const maxLabelLength = 2048;

/** A template of which this text comes: a name is none. It is longer where the text holds `{{`. */
export const plain = (text: string): string => text.replaceAll('{{', '{{ "{{" }}');
