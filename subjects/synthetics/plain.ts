/** Labels and annotations of rules are templates: a name is none. It becomes longer where it holds `{{`. */
export const plain = (text: string): string => text.replaceAll('{{', '{{ "{{" }}');
