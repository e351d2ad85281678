/** Links of fields, with the values of the row that they are shown at */

/** Values that a link may contain */
export interface LinkValues {
  /** Value as displayed, and as received */
  readonly text: string;
  readonly raw: string;
  readonly seriesName: string;
  /** Values of the row by column */
  readonly fields: Readonly<Record<string, string>>;
}

const readPlaceholder = (path: string, { text, raw, seriesName, fields }: LinkValues): string | undefined => {
  const known: Readonly<Record<string, string>> = {
    '__value.text': text,
    '__value.raw': raw,
    '__value.numeric': raw,
    '__field.name': seriesName,
    '__series.name': seriesName,
  };
  if (Object.hasOwn(known, path)) return known[path];
  const [, dotted, quoted] = /^__data\.fields(?:\.([^"'\]]{1,512})|\["([^"]{1,512})"\])$/.exec(path) ?? [];
  const name = dotted ?? quoted;
  return name !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
};

/** Returns a URL with its placeholders, such as `${__data.fields.pod}`, replaced by encoded values. */
export const resolveLinkUrl = (url: string, values: LinkValues): string =>
  url.replace(/\$\{(__[^{}]{1,600})\}/g, (placeholder, path: string) => {
    const value = readPlaceholder(path.replace(/:\w{1,32}$/, ''), values);
    return value === undefined ? placeholder : encodeURIComponent(value);
  });

/** Returns the title of a link in the same way, without encoding. */
export const resolveLinkTitle = (title: string, values: LinkValues): string =>
  title.replace(
    /\$\{(__[^{}]{1,600})\}/g,
    (placeholder, path: string) => readPlaceholder(path.replace(/:\w{1,32}$/, ''), values) ?? placeholder,
  );
