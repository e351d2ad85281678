/** Converts a title for use within a sentence: `Saved queries` becomes `saved queries`; acronyms like `SLOs` stay. */
export const toMidSentenceTitle = (title: string): string =>
  /^[A-Z]+s?(?=\W|$)/.test(title) && !/^[A-Z](?=\W|$)/.test(title)
    ? title
    : title.slice(0, 1).toLowerCase() + title.slice(1);
