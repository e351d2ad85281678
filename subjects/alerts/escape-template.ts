/** Plain text for labels and annotations of rules, which are templates. */

/** Maximum characters of a label. */
export const maxLabelLength = 2048;

/** Returns a template that renders this text, such as a name. It is longer if the text contains `{{`. */
export const escapeTemplate = (text: string): string => text.replaceAll('{{', '{{ "{{" }}');
