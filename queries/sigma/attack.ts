/** What tags of rules say about ATT&CK. */

const techniqueTag = /^attack\.(t\d{4}(?:\.\d{3})?)$/i;
/** Of groups and software. */
const otherTag = /^attack\.[gs]\d{4}$/i;

/** Techniques as `T1059.001`, each once. */
export const techniquesOf = (tags: readonly string[]): string[] => [
  ...new Set(tags.flatMap((tag) => techniqueTag.exec(tag)?.[1]?.toUpperCase() ?? [])),
];

/** Tactics as `privilege-escalation`, each once. */
export const tacticsOf = (tags: readonly string[]): string[] => [
  ...new Set(
    tags
      .filter((tag) => /^attack\./i.test(tag) && !techniqueTag.test(tag) && !otherTag.test(tag))
      .map((tag) => tag.slice('attack.'.length).toLowerCase().replaceAll('_', '-')),
  ),
];
