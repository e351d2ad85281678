/** Returns a title for the middle of a sentence: `Saved queries` becomes `saved queries`, `SLOs` stays. */
export const titleInSentence = (title: string): string =>
  /^[A-Z]+s?(?=\W|$)/.test(title) && !/^[A-Z](?=\W|$)/.test(title)
    ? title
    : title.slice(0, 1).toLowerCase() + title.slice(1);
